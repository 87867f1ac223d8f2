/**
 * A process of its own that claims directories when it is told to, several times at once if need
 * be, and answers with the outcome of each attempt.
 */
import {
  type DirectoryClaim,
  claimDirectory,
} from '../../../../src/engines/embedded/journal/owner/claim-directory.ts'
import { isLockError } from '../../../../src/engine/errors/errors.ts'

export type ClaimantOrder =
  | { readonly kind: 'claim'; readonly directory: string; readonly times: number }
  | { readonly kind: 'release' }

export interface ClaimantAnswer {
  readonly isOwner: boolean
  /** The pid that has the directory, as far as the attempt could tell. */
  readonly owner: number | null
}

let claim: DirectoryClaim | null = null

async function attempt(directory: string): Promise<ClaimantAnswer> {
  try {
    claim = await claimDirectory(directory)
    return { isOwner: true, owner: process.pid }
  } catch (error) {
    return {
      isOwner: false,
      owner: isLockError(error, 'LOCK_DIRECTORY_OWNED') ? (error.details['pid'] as number) : null,
    }
  }
}

async function obey(order: ClaimantOrder): Promise<ClaimantAnswer[]> {
  if (order.kind === 'claim') {
    return Promise.all(Array.from({ length: order.times }, () => attempt(order.directory)))
  }
  await claim?.release()
  return []
}

process.on('message', (order: ClaimantOrder) => {
  void obey(order).then((answers) => process.send?.(answers))
})
process.send?.('ready')

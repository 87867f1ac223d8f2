/**
 * A process of its own that claims directories when it is told to. It is sent a directory to claim
 * or `release`, and answers with the pid that owns the directory afterwards, or with an error.
 */
import {
  type DirectoryClaim,
  claimDirectory,
} from '../../../../src/engines/embedded/journal/claim-directory.ts'
import { DirectoryOwnedError } from '../../../../src/engines/embedded/journal/journal-errors.ts'

export interface ClaimantAnswer {
  readonly owner: number | null
  readonly error: string | null
}

let claim: DirectoryClaim | null = null

async function claimIt(directory: string): Promise<ClaimantAnswer> {
  try {
    claim = await claimDirectory(directory)
    return { owner: process.pid, error: null }
  } catch (error) {
    const owner = error instanceof DirectoryOwnedError ? error.pid : null
    return { owner, error: String(error) }
  }
}

async function obey(message: string): Promise<void> {
  if (message !== 'release') {
    process.send?.(await claimIt(message))
    return
  }
  await claim?.release()
  process.send?.({ owner: null, error: null } satisfies ClaimantAnswer)
}

process.on('message', (message: string) => void obey(message))
process.send?.('ready')

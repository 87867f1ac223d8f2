import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rename, rm, rmdir, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { ClaimSocket, isListening } from './claim-socket.ts'
import { toDirectoryOwned } from '../journal-errors.ts'
import { type ProcessIdentity, currentProcess, isRunning } from './process-identity.ts'

/**
 * One process owns a data directory.
 *
 * The owner is whoever has put a directory `owner/` into it. In `owner/` lies an empty file whose
 * name is the claim: pid, start of the process, boot and a random instance, and beside it a socket
 * named after the instance. To claim, a process prepares such a directory under a name of its own
 * and renames it to `owner`. The system does that only when there is no `owner/` or it is empty, so
 * of any number of claimants one wins, and `owner/` is never seen half made.
 *
 * A claim is stale when nobody listens on its socket, or, where there is no socket, when that very
 * process does not run any more. A stale claim is taken away by removing the file with its name.
 * That is the whole point of the layout: the name is unlike any other, so a claimant who was slow
 * to decide removes the claim that it judged, or nothing, but never the claim of somebody who has
 * taken over in the meantime.
 *
 * The directory must be on a disk of this machine. Processes of another machine are not seen.
 */
export interface DirectoryClaim {
  /** Lets others have the directory. Harmless when repeated. */
  release(): Promise<void>
}

const OWNER = 'owner'
const CLAIM = /^(\d+)\.(\w+)\.([\w-]+)\.([0-9a-f]{16})$/
const SOCKET_SUFFIX = '.sock'

/** How a rename is refused. Windows replaces no directory, not even an empty one, and says EPERM. */
const TAKEN_CODES = ['ENOTEMPTY', 'EEXIST', ...(process.platform === 'win32' ? ['EPERM'] : [])]

/** Each round is lost to somebody else's progress, so this many are not needed. */
const ATTEMPTS_MAX = 1000

/**
 * Makes this process the owner of an existing directory.
 *
 * @throws {LockError} `LOCK_DIRECTORY_OWNED` when it has one already, this process included.
 */
export async function claimDirectory(directory: string): Promise<DirectoryClaim> {
  const owner = join(directory, OWNER)
  const prepared = await prepareClaim(directory)
  try {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      if (await tryRename(prepared.path, owner)) {
        await removeAbandoned(directory)
        return createClaim(owner, prepared)
      }
      const found = await findOwner(owner)
      if (found !== null) throw toDirectoryOwned(directory, found.pid)
    }
    throw new Error(`${owner} is being changed by others all the time`)
  } catch (error) {
    await prepared.socket?.close()
    await rm(prepared.path, { recursive: true, force: true })
    throw error
  }
}

interface PreparedClaim {
  readonly path: string
  readonly name: string
  readonly instance: string
  readonly socket: ClaimSocket | null
}

async function prepareClaim(directory: string): Promise<PreparedClaim> {
  const { pid, startedAt, boot } = await currentProcess()
  const instance = randomBytes(8).toString('hex')
  const name = `${pid}.${startedAt}.${boot}.${instance}`
  const path = join(directory, `${OWNER}-${name}`)
  await mkdir(path)
  await writeFile(join(path, name), '')
  const socket = await ClaimSocket.tryListen(path, instance + SOCKET_SUFFIX)
  return { path, name, instance, socket }
}

function createClaim(owner: string, { name, instance, socket }: PreparedClaim): DirectoryClaim {
  let released: Promise<void> | null = null
  const release = async (): Promise<void> => {
    await removeAll(owner, [name, instance + SOCKET_SUFFIX])
    await socket?.close()
  }
  return {
    release: () => {
      released ??= release()
      return released
    },
  }
}

/** Whether the rename was done; it is not while `to` holds anything. */
async function tryRename(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to)
    return true
  } catch (error) {
    if (TAKEN_CODES.includes(codeOf(error))) return false
    throw error
  }
}

/** The process that owns the directory. When there is none, `owner/` is cleared of stale claims. */
async function findOwner(owner: string): Promise<ProcessIdentity | null> {
  const names = await readdir(owner).catch(unless([], 'ENOENT'))
  for (const name of names) {
    const claim = parseClaim(name)
    if (claim === null && !name.endsWith(SOCKET_SUFFIX)) {
      throw new Error(
        `${join(owner, name)} is not a claim. Remove it if the directory is not in use.`,
      )
    }
    if (claim !== null && (await isHeld(owner, claim))) return claim
  }
  await removeAll(owner, names)
  return null
}

interface Claim extends ProcessIdentity {
  readonly instance: string
}

function parseClaim(name: string): Claim | null {
  const match = CLAIM.exec(name)
  if (match === null) return null
  const [, pid, startedAt = '', boot = '', instance = ''] = match
  return { pid: Number(pid), startedAt, boot, instance }
}

async function isHeld(path: string, claim: Claim): Promise<boolean> {
  return (await isListening(path, claim.instance + SOCKET_SUFFIX)) ?? (await isRunning(claim))
}

/** Removes these names, and then the directory unless somebody else has moved in. */
async function removeAll(owner: string, names: readonly string[]): Promise<void> {
  for (const name of names) await unlink(join(owner, name)).catch(unless(undefined, 'ENOENT'))
  await rmdir(owner).catch(unless(undefined, 'ENOENT', 'ENOTEMPTY', 'EEXIST'))
}

/** Removes what claimants left behind that were killed before they had an answer. */
async function removeAbandoned(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const claim = name.startsWith(`${OWNER}-`) ? parseClaim(name.slice(OWNER.length + 1)) : null
    // A claimant may not be listening yet, so here the process itself must be gone, too.
    if (claim === null || (await isRunning(claim))) continue
    const path = join(directory, name)
    if (!(await isHeld(path, claim))) await rm(path, { recursive: true, force: true })
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? ''
}

/** For `catch`: takes one of these errors for the given answer, and throws any other. */
function unless<Answer>(answer: Answer, ...codes: string[]): (error: unknown) => Answer {
  return (error) => {
    if (codes.includes(codeOf(error))) return answer
    throw error
  }
}

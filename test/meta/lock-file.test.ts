import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

interface LockedPackage {
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly optional?: boolean
}

const SYSTEMS = ['linux', 'darwin', 'win32']
const PROCESSORS = ['x64', 'arm64']

function isForEverybody({ os = SYSTEMS, cpu = PROCESSORS }: LockedPackage): boolean {
  return (
    SYSTEMS.every((name) => os.includes(name)) && PROCESSORS.every((name) => cpu.includes(name))
  )
}

/** What `npm ci` refuses to install on some machines, and with it everything else. */
function listExclusive({ packages }: LockFile): string[] {
  return Object.entries(packages)
    .filter(([, locked]) => locked.optional !== true && !isForEverybody(locked))
    .map(([name]) => name)
}

describe('the lock file', () => {
  it('can be installed on every usual machine', () => {
    const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as LockFile
    expect(Object.keys(lock.packages).length).toBeGreaterThan(100)
    expect(listExclusive(lock)).toEqual([])
  })

  it('cannot with a package for some of them that is not optional', () => {
    const packages = {
      one: { os: ['linux'] },
      two: { os: SYSTEMS, cpu: ['x64'] },
      three: { os: SYSTEMS, cpu: PROCESSORS },
      four: { os: ['darwin'], cpu: ['x64'], optional: true },
    }
    expect(listExclusive({ packages })).toEqual(['one', 'two'])
  })
})

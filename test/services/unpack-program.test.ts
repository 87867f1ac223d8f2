import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findProgram } from './find-program.ts'
import type { Program, ProgramSources } from './program.ts'

const SOURCES: ProgramSources = {
  name: 'beacon',
  systemPackage: 'beacon-server',
  variable: 'HOLDFAST_TEST_BEACON_URL',
}

/** Knows two packages, and says what it was asked for. */
const APT_GET = `
echo "$*" >> "$CALLS"
case "$*" in
  *Dir::State*) ;;
  *) if [ -n "$NO_LISTS" ]; then exit 100; fi ;;
esac
case "$*" in
  *--simulate*) echo 'Inst libbeacon (1)'; echo 'Inst beacon-server (2)' ;;
  *download*) touch libbeacon_1.deb beacon-server_2.deb ;;
esac
`
const DPKG_DEB = `
mkdir -p "$3/usr/bin" "$3/usr/lib/deep"
case "$2" in
  */libbeacon*) touch "$3/usr/lib/deep/libbeacon.so.1" ;;
  *) printf '#!/bin/sh\\necho lit\\n' > "$3/usr/bin/beacon"; chmod +x "$3/usr/bin/beacon" ;;
esac
`

describe('a program that the machine lacks', () => {
  let folder: string
  let cache: string
  let environment: Record<string, string>

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-unpack-'))
    cache = join(folder, 'cache')
    const tools = join(folder, 'tools')
    mkdirSync(tools)
    for (const [name, script] of Object.entries({ 'apt-get': APT_GET, 'dpkg-deb': DPKG_DEB })) {
      writeFileSync(join(tools, name), `#!/bin/sh\nPATH=/usr/bin:/bin${script}`)
      chmodSync(join(tools, name), 0o755)
    }
    environment = { PATH: tools, CALLS: join(folder, 'calls') }
  })

  afterEach(() => rmSync(folder, { recursive: true }))

  const find = (): Promise<Program> => findProgram(SOURCES, { environment, cache })
  const listLeftovers = (): string[] =>
    readdirSync(cache, { recursive: true, encoding: 'utf8' }).filter((file) => /\/\./.test(file))

  it('is unpacked with its libraries from the packages of the system', async () => {
    const { path, root = '', environment: own } = await find()
    expect(execFileSync(path, { encoding: 'utf8' })).toBe('lit\n')
    expect(path.startsWith(cache)).toBe(true)
    expect(own).toEqual({ LD_LIBRARY_PATH: join(root, 'usr/lib/deep') })
    expect(listLeftovers()).toEqual([])
  })

  it('is unpacked once', async () => {
    const first = await find()
    rmSync(join(folder, 'tools'), { recursive: true })
    expect(await find()).toEqual(first)
  })

  it('is unpacked by two at once without a collision', async () => {
    const [one, other] = await Promise.all([find(), find()])
    expect(one).toEqual(other)
    expect(listLeftovers()).toEqual([])
  })

  it('comes by lists of our own where the system has none', async () => {
    environment['NO_LISTS'] = 'yes'
    const { path } = await find()
    expect(execFileSync(path, { encoding: 'utf8' })).toBe('lit\n')
  })

  it('is taken from the machine once it is there', async () => {
    const path = join(folder, 'tools', 'beacon')
    writeFileSync(path, '#!/bin/sh\n')
    chmodSync(path, 0o755)
    expect(await find()).toEqual({ path, environment: {} })
  })

  it('is asked for in words where it cannot be had', async () => {
    writeFileSync(join(folder, 'tools', 'apt-get'), '#!/bin/sh\necho no network >&2\nexit 100\n')
    await expect(find()).rejects.toThrow(/beacon.*HOLDFAST_TEST_BEACON_URL.*beacon-server.*no net/s)
    expect(listLeftovers()).toEqual([])
  })
})

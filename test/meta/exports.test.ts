import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { publint } from 'publint'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listExportTargets, type Manifest, readManifest } from './guards/manifest.ts'
import { PackedPackage } from './guards/packed-package.ts'
import { findTarballFaults } from './guards/tarball.ts'
import { createTemporaryProject } from './guards/temporary-project.ts'
import { typeCheck } from './guards/type-check.ts'

const manifest = readManifest()
const entries = Object.keys(manifest.exports)
  .filter((path) => path !== './package.json')
  .map((path) => path.replace('.', manifest.name))

describe('the packed package', () => {
  let packed: PackedPackage

  beforeAll(() => {
    packed = new PackedPackage()
  })

  afterAll(() => packed.remove())

  function runProgram(name: string, lines: readonly string[]): ReturnType<typeof spawnSync> {
    writeFileSync(join(packed.folder, name), lines.join('\n'))
    return spawnSync(process.execPath, [name], { cwd: packed.folder, encoding: 'utf8' })
  }

  it('holds what its exports promise, and nothing else', () => {
    expect(findTarballFaults(packed.files, manifest)).toEqual([])
  })

  it('has no fault that publint knows', async () => {
    const { messages } = await publint({ pkgDir: packed.installed, pack: false, strict: true })
    expect(messages).toEqual([])
  })

  it.each(entries)('is imported in JavaScript as %s', (entry) => {
    const program = [`import * as found from '${entry}'`, 'console.log(Object.keys(found).length)']
    const { stdout, stderr } = runProgram('import.js', program)
    expect({ count: Number(stdout) > 0, stderr }).toEqual({ count: true, stderr: '' })
  })

  it.each(entries)('is required in CommonJS as %s', (entry) => {
    const program = [`console.log(Object.keys(require('${entry}')).length)`]
    const { stdout, stderr } = runProgram('require.cjs', program)
    expect({ count: Number(stdout) > 0, stderr: withoutWarning(String(stderr)) }).toEqual({
      count: true,
      stderr: '',
    })
  })

  it.each(['NodeNext', 'Preserve'] as const)('is typed for module %s', (module) => {
    mkdirSync(join(packed.folder, 'src'), { recursive: true })
    const program = entries.map((entry, index) => `export * as e${index} from '${entry}'`)
    writeFileSync(join(packed.folder, 'src/typed.ts'), program.join('\n'))
    expect(typeCheck({ folder: packed.folder, module })).toEqual([])
  })

  it('keeps its inner files to itself', () => {
    const { stderr } = runProgram('deep.js', [`import '${manifest.name}/dist/index.js'`])
    expect(stderr).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED')
  })
})

describe('the checks of the package', () => {
  const whole = [...listExportTargets(manifest), 'README.md', 'LICENSE', 'CHANGELOG.md']

  it('accept a whole tarball', () => {
    expect(findTarballFaults(whole, manifest)).toEqual([])
  })

  it.each(['dist/index.js', 'dist/index.d.ts', 'LICENSE'])('miss %s', (file) => {
    const rest = whole.filter((other) => other !== file)
    expect(findTarballFaults(rest, manifest)).toEqual([`${file} is missing`])
  })

  it.each([
    'test/meta/exports.test.ts',
    'bench/run.ts',
    'scripts/bootstrap.mjs',
    'dist/.bootstrap',
    'dist/index.test.js.map',
    'src/index.ts',
  ])('do not want %s', (file) => {
    const faults = findTarballFaults([...whole, file], manifest)
    expect(faults).toEqual([`${file} does not belong in the package`])
  })

  it('report an export that points nowhere', async () => {
    const broken: Manifest = { name: 'broken', exports: { '.': './dist/gone.js' } }
    const text = JSON.stringify({ ...broken, version: '1.0.0', type: 'module' })
    const folder = createTemporaryProject([{ path: 'package.json', text }])
    const { messages } = await publint({ pkgDir: folder, pack: false, strict: true })
    expect(messages.map(({ code }) => code)).toContain('FILE_DOES_NOT_EXIST')
  })
})

/** Node 20 warns once that requiring an ES module is new. */
function withoutWarning(text: string): string {
  return text
    .split('\n')
    .filter((line) => !/ExperimentalWarning|node --trace-warnings/.test(line))
    .join('\n')
}

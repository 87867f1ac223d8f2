import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runTool } from './guards/run-tool.ts'
import { REPOSITORY, type SourceFile } from './guards/source-file.ts'
import { createTemporaryProject } from './guards/temporary-project.ts'

/** Runs knip over the files with the configuration of this repository. */
function findUnused(files: readonly SourceFile[]): string {
  const config = readFileSync(join(REPOSITORY, 'knip.json'), 'utf8')
  const folder = createTemporaryProject([{ path: 'knip.json', text: config }, ...files])
  const args = ['--no-progress', '--no-config-hints', '--reporter', 'compact']
  const { status, output } = runTool('knip/bin/knip.js', { cwd: folder, args })
  return status === 0 ? '' : output
}

const MANIFEST = { path: 'package.json', text: '{ "type": "module" }' }
const INDEX = { path: 'src/index.ts', text: `export { used } from './locks/used.ts'\n` }

/** That the repository itself has none is what `npm run check` shows. */
describe('the check for unused code', () => {
  it('is content when everything is used', () => {
    const used = { path: 'src/locks/used.ts', text: 'export const used = 1\n' }
    expect(findUnused([MANIFEST, INDEX, used])).toBe('')
  })

  it('reports files, exports and packages that nothing uses, and packages that are not declared', () => {
    const text = `import { parse } from 'yaml'\nexport const used = parse\nexport const idle = 1\n`
    const found = findUnused([
      { path: 'package.json', text: '{ "type": "module", "dependencies": { "tsx": "*" } }' },
      INDEX,
      { path: 'src/locks/used.ts', text },
      { path: 'src/locks/forgotten.ts', text: 'export {}\n' },
    ])
    expect(found).toMatch(/Unused files \(1\)\nsrc\/locks\/forgotten\.ts/)
    expect(found).toMatch(/Unused dependencies \(1\)\npackage\.json: tsx/)
    expect(found).toMatch(/Unlisted dependencies \(1\)\nsrc\/locks\/used\.ts: yaml/)
    expect(found).toMatch(/Unused exports \(1\)\nsrc\/locks\/used\.ts: idle/)
  })
})

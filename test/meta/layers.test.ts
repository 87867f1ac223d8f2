import { describe, expect, it } from 'vitest'
import { createLayerRules, findCrossedWalls } from './guards/layers.ts'
import { readManifest } from './guards/manifest.ts'
import { readSourceFiles } from './guards/source-file.ts'

const rules = createLayerRules(readManifest())

describe('the walls between the folders of src/', () => {
  it('stand', () => {
    expect(findCrossedWalls(readSourceFiles('src', /\.ts$/), rules)).toEqual([])
  })

  it.each([
    ['the law uses an engine', 'src/law/decide.ts', `import '../engine/engine.ts'`],
    [
      'the law knows a type of an engine',
      'src/law/a.ts',
      `import type { A } from '../engine/a.ts'`,
    ],
    ['the law reads a file', 'src/law/a.ts', `import { readFileSync } from 'node:fs'`],
    ['the law knows the time', 'src/law/a.ts', `import { x } from '../time/clock.ts'`],
    ['the contract uses an engine', 'src/engine/a.ts', `export * from '../engines/embedded/a.ts'`],
    ['an engine uses another engine', 'src/engines/redis/a.ts', `import '../embedded/a.ts'`],
    ['locks name an engine', 'src/locks/locks.ts', `import '../engines/embedded/a.ts'`],
    ['locks name an engine at run time', 'src/locks/a.ts', `await import('../engines/redis/a.ts')`],
    [
      'locks name the type of an engine',
      'src/locks/a.ts',
      `type A = import('../engines/x/a.ts').A`,
    ],
    ['the server uses the way in', 'src/server/app.ts', `import '../locks/locks.ts'`],
    ['locks use a rule of the law', 'src/locks/a.ts', `import { x } from '../law/decide.ts'`],
    ['the wire uses the law', 'src/wire/a.ts', `import { x } from '../law/limits.ts'`],
    ['the command line uses the law', 'src/cli/a.ts', `import { x } from '../law/decide.ts'`],
    ['a layer uses the test kit', 'src/locks/a.ts', `import '../testing/virtual-clock.ts'`],
    ['the test kit names an engine', 'src/testing/a.ts', `import '../engines/embedded/a.ts'`],
    ['a layer leaves src/', 'src/locks/a.ts', `import '../../scripts/sim.ts'`],
    ['a layer uses a development dependency', 'src/testing/a.ts', `import { it } from 'vitest'`],
    ['a layer goes through a barrel', 'src/locks/a.ts', `import '../engine/index.ts'`],
    ['a folder is new', 'src/helpers/a.ts', ''],
  ])('fall when %s', (_, path, text) => {
    expect(findCrossedWalls([{ path, text }], rules)).toHaveLength(1)
  })

  it.each([
    ['src/law/deep/a.ts', `import '../limits.ts'`],
    ['src/wire/a.ts', `import type { A } from '../law/view.ts'`],
    ['src/locks/connect.ts', `await import('../engines/embedded/embedded-engine.ts')`],
    ['src/locks/open-engine.ts', `await import('../engines/sql/open-sql-engine.ts')`],
    ['src/engines/sql/postgres/a.ts', `import '../sql-engine.ts'`],
    ['src/engines/remote/a.ts', `import '../../wire/codec.ts'`],
    ['src/cli/settings/a.ts', `import '../../engine/a.ts'; import '../usage-error.ts'`],
    ['src/locks/a.ts', `import type { Mode } from '../law/view.ts'`],
    ['src/cli/a.ts', `import '../engines/redis/a.ts'; import '../locks/connect.ts'`],
  ])('have a door in %s', (path, text) => {
    expect(findCrossedWalls([{ path, text }], rules)).toEqual([])
  })
})

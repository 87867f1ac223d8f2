import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { listSlowTests } from '../../scripts/list-slow-tests.ts'

let root: string

afterEach(() => rm(root, { recursive: true }))

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  root = await mkdtemp(join(tmpdir(), 'holdfast-tests-'))
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, file)), { recursive: true })
    await writeFile(join(root, file), text)
  }
}

it('tests that start processes or servers are not among the fast ones, however they get at them', async () => {
  await write({
    'test/a/plain.test.ts': `import { rig } from './rig.ts'`,
    'test/a/rig.ts': `import { readFile } from 'node:fs'\nimport { x } from '../../src/x.ts'`,
    'src/x.ts': `import { spawn } from 'node:child_process'`,
    'test/a/itself.test.ts': `import { spawn } from 'node:child_process'`,
    'test/a/through.test.ts': `import type { B } from '../b/deep.ts'`,
    'test/b/deep.ts': `import { deeper } from './deeper.ts'`,
    'test/b/deeper.ts': `import { deep } from './deep.ts'\nimport { fork } from 'node:child_process'`,
    'test/b/server.test.ts': `const { start } = await import('../services/db.ts')`,
    'test/services/db.ts': '',
  })
  expect(listSlowTests(root)).toEqual([
    'test/a/itself.test.ts',
    'test/a/through.test.ts',
    'test/b/server.test.ts',
  ])
})

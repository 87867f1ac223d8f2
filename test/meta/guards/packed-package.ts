import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { readManifest } from './manifest.ts'
import { REPOSITORY } from './source-file.ts'

interface PackReport {
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

/** The package as a user gets it: built, packed, and installed in an otherwise empty project. */
export class PackedPackage {
  /** What is in the tarball, such as `dist/index.js`. */
  readonly files: readonly string[]
  /** The project of the user. */
  readonly folder: string = mkdtempSync(join(tmpdir(), 'holdfast-packed-'))

  constructor() {
    run(process.execPath, [join(REPOSITORY, 'scripts/bootstrap.mjs'), '--build'], REPOSITORY)
    const options = ['--json', '--ignore-scripts', '--pack-destination', this.folder]
    const [report] = JSON.parse(runNpm(['pack', ...options], REPOSITORY)) as [PackReport]
    this.files = report.files.map(({ path }) => path)
    const project = { private: true, type: 'module', overrides: dependenciesAtHand() }
    writeFileSync(join(this.folder, 'package.json'), JSON.stringify(project))
    const tarball = `./${report.filename}`
    // What happens to be in the cache of a machine is of no help on the next one.
    const offline = ['--offline', '--cache', join(this.folder, 'empty-cache')]
    // A package that is installed from a folder is prepared as its authors would; from a registry it is not.
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund']
    runNpm(['install', ...offline, ...quiet, tarball], this.folder)
  }

  /** Install the optional peers too, as somebody does who uses an engine that needs them. */
  addPeers(): void {
    for (const peer of Object.keys(readManifest().peerDependencies ?? {})) {
      const target = join(this.folder, 'node_modules', peer)
      mkdirSync(dirname(target), { recursive: true })
      symlinkSync(join(REPOSITORY, 'node_modules', peer), target)
    }
  }

  /** The installed package. */
  get installed(): string {
    return join(this.folder, 'node_modules/holdfast')
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/**
 * The dependencies of the package, and theirs, as they are installed here, because no registry is asked for
 * them.
 */
function dependenciesAtHand(): Record<string, string> {
  const found: Record<string, string> = {}
  const add = (folder: string): void => {
    for (const name of Object.keys(readManifest(folder).dependencies ?? {})) {
      const installed = join(REPOSITORY, 'node_modules', name)
      if (name in found) continue
      found[name] = `file:${installed}`
      add(installed)
    }
  }
  add(REPOSITORY)
  return found
}

function runNpm(args: readonly string[], cwd: string): string {
  const npm = process.env['npm_execpath'] ?? ''
  if (/npm-cli\.c?js$/.test(npm)) return run(process.execPath, [npm, ...args], cwd)
  return run('npm', args, cwd)
}

function run(command: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (status === 0) return stdout
  throw new Error(`${command} ${args.join(' ')} failed: ${error?.message ?? stderr + stdout}`)
}

/**
 * Programs of the system's packages, without installing them: the archives are downloaded and unpacked
 * into the cache of the project, with the libraries that the machine lacks. Works without root, and
 * starts nothing.
 */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { findOnPath, type Program, type ProgramSources } from './program.ts'
import type { ServiceOptions } from './service.ts'

const run = promisify(execFile)
const COMMAND_MS_MAX = 180_000
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024

type Environment = Required<ServiceOptions>['environment']

export async function unpackProgram(
  { name, systemPackage }: ProgramSources,
  { cache, environment }: Required<ServiceOptions>,
): Promise<Program> {
  // A checkout may be shared by machines that differ.
  const folder = join(cache, describeSystem())
  const root = join(folder, systemPackage)
  if (!existsSync(root)) {
    await mkdir(folder, { recursive: true })
    const draft = await mkdtemp(join(folder, `.${systemPackage}-`))
    try {
      await new PackageTools(draft, environment).unpack(systemPackage)
      await publish(join(draft, 'root'), root)
    } finally {
      await rm(draft, { recursive: true, force: true })
    }
  }
  return toProgram(name, root)
}

function describeSystem(): string {
  const release = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : ''
  const read = (field: string): string =>
    new RegExp(`^${field}="?([\\w.-]+)`, 'm').exec(release)?.[1] ?? process.platform
  return `${read('ID')}-${read('VERSION_ID')}-${process.arch}`
}

/** All at once, or not at all; whoever else unpacked the same meanwhile was as good. */
async function publish(draft: string, root: string): Promise<void> {
  try {
    await rename(draft, root)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error
  }
}

function toProgram(name: string, root: string): Program {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  const path = files.find((file) => basename(file) === name && /\bs?bin$/.test(dirname(file)))
  if (path === undefined) throw new Error(`${basename(root)} has no ${name} in it`)
  const libraries = files.filter((file) => /\.so(\.\d+)*$/.test(file)).map(dirname)
  const folders = [...new Set(libraries)].map((folder) => join(root, folder))
  // An empty entry would mean the current directory.
  const environment = folders.length === 0 ? {} : { LD_LIBRARY_PATH: folders.join(':') }
  return { path: join(root, path), root, environment }
}

class PackageTools {
  readonly #draft: string
  readonly #environment: Environment

  constructor(draft: string, environment: Environment) {
    this.#draft = draft
    this.#environment = environment
  }

  async unpack(systemPackage: string): Promise<void> {
    const archives = await this.#download(systemPackage)
    const root = join(this.#draft, 'root')
    for (const archive of archives) await this.#run('dpkg-deb', ['-x', archive, root])
  }

  /** The lists of the system may be empty or out of date; then we fetch our own, beside the archives. */
  async #download(systemPackage: string): Promise<string[]> {
    try {
      return await this.#downloadBy([], systemPackage)
    } catch (error) {
      // Without the tools there is nothing more to try.
      if ((error as NodeJS.ErrnoException).code === undefined) throw error
    }
    const ownLists = this.#createOwnLists()
    await this.#apt([...ownLists, 'update'])
    return this.#downloadBy(ownLists, systemPackage)
  }

  async #downloadBy(lists: readonly string[], systemPackage: string): Promise<string[]> {
    const plan = ['install', '--simulate', '--no-install-recommends', systemPackage]
    const simulated = await this.#apt([...lists, ...plan])
    const names = [...simulated.matchAll(/^Inst (\S+)/gm)].map((match) => match[1] as string)
    await this.#apt([...lists, 'download', ...names])
    const files = readdirSync(this.#draft).filter((file) => file.endsWith('.deb'))
    return files.map((file) => join(this.#draft, file))
  }

  #createOwnLists(): string[] {
    const state = join(this.#draft, 'state')
    const cache = join(this.#draft, 'cache')
    mkdirSync(join(state, 'lists', 'partial'), { recursive: true })
    mkdirSync(join(cache, 'archives', 'partial'), { recursive: true })
    const settings = {
      'Dir::State': state,
      'Dir::State::lists': join(state, 'lists'),
      'Dir::State::status': '/var/lib/dpkg/status',
      'Dir::Cache': cache,
    }
    return Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  }

  #apt(args: readonly string[]): Promise<string> {
    // As root, apt would fetch as a user that cannot write into our folder.
    const asRoot = process.getuid?.() === 0 ? ['-o', 'APT::Sandbox::User=root'] : []
    return this.#run('apt-get', [...asRoot, ...args])
  }

  async #run(tool: string, args: readonly string[]): Promise<string> {
    const path = findOnPath(tool, this.#environment)
    if (path === null) throw new Error(`there is no ${tool} on PATH`)
    const { stdout } = await run(path, args, {
      cwd: this.#draft,
      env: { ...this.#environment, LC_ALL: 'C' },
      timeout: COMMAND_MS_MAX,
      maxBuffer: OUTPUT_BYTES_MAX,
    })
    return stdout
  }
}

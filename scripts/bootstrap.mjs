// Makes every npm script work as the only command on a fresh clone: it installs the dependencies
// when they are missing or old, and with --build also compiles src/ to dist/. It runs before
// anything is installed, so it uses Node's built-ins only.
//
//   inputs ──hash──► key;  key equals the stamp of the last success ──► nothing to do
//                          otherwise: take the turn, look again, work, write the stamp
//
// Each stamp is written last, so an install or a build that was killed is simply done again.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const TURNS = '.cache/bootstrap'
// The install stamp disappears together with node_modules. The build stamp is outside dist, which
// is published.
const INSTALL_STAMP = 'node_modules/.bootstrap'
const BUILD_STAMP = '.cache/bootstrap/built'
const POLL_MS = 100
const HEARTBEAT_MS = 2_000
// A turn without a heartbeat for this long is over, even if its process id exists: ids are reused.
const HEARTBEAT_LOST_MS = 60_000

class BootstrapError extends Error {}

const at = (path) => join(ROOT, path)
const say = (text) => process.stderr.write(`bootstrap: ${text}\n`)
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

function readOrEmpty(path) {
  try {
    return readFileSync(at(path), 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return ''
    throw error
  }
}

function assertNodeIsRecent(manifest) {
  const required = manifest.engines.node.replace('>=', '')
  const [major, minor] = process.versions.node.split('.').map(Number)
  const [requiredMajor, requiredMinor] = required.split('.').map(Number)
  if (major > requiredMajor || (major === requiredMajor && minor >= requiredMinor)) return
  throw new BootstrapError(
    `Node ${process.versions.node} is too old: ${manifest.name} needs ${required} or newer.`,
  )
}

/** The parts of the manifest that decide what is installed; a changed script installs nothing. */
function installKey(manifest) {
  const { dependencies, devDependencies, peerDependencies, optionalDependencies } = manifest
  const { overrides, allowScripts } = manifest
  const wanted = [dependencies, devDependencies, peerDependencies, optionalDependencies]
  return hash([JSON.stringify([wanted, overrides, allowScripts]), readOrEmpty('package-lock.json')])
}

/** Everything that the compiled files depend on. */
function buildKey() {
  const configs = readdirSync(ROOT).filter((name) => /^tsconfig.*\.json$/.test(name))
  const inputs = ['package.json', 'package-lock.json', 'scripts/bootstrap.mjs', ...configs.sort()]
  return hash([...inputs, ...filesBelow('src')].flatMap((path) => [path, readOrEmpty(path)]))
}

function filesBelow(folder) {
  const entries = readdirSync(at(folder), { withFileTypes: true })
  const nested = entries.map((entry) => {
    const path = `${folder}/${entry.name}`
    return entry.isDirectory() ? filesBelow(path) : [path]
  })
  return nested.flat().sort()
}

function hash(texts) {
  const digest = createHash('sha256')
  for (const text of texts) digest.update(`${text.length}:${text}`)
  return digest.digest('hex')
}

// Taking turns. Two commands on a fresh clone both want to install: one works, the other waits and
// then finds the work done. A turn is a numbered file that names its owners, and the highest number
// is the one that counts. The next number is taken by creating its file, which only one can do, and
// only when the highest is free or its owners are gone. Numbers only go up, so nobody who was slow
// to notice can remove or repeat the turn of somebody else.

async function inTurn(isDone, work) {
  let hasSaidSo = false
  while (!isDone()) {
    const turn = tryTakeTurn()
    if (turn !== null) {
      await workInTurn(turn, isDone, work)
      return
    }
    if (!hasSaidSo) say('waiting for another command that installs or builds')
    hasSaidSo = true
    await sleep(POLL_MS)
  }
}

async function workInTurn(turn, isDone, work) {
  // The process that we start is an owner too: it may go on for a while after we were killed.
  const owners = [process.pid]
  const heartbeat = setInterval(() => writeTurn(turn, owners), HEARTBEAT_MS)
  const addOwner = (pid) => {
    owners.push(pid)
    writeTurn(turn, owners)
  }
  try {
    if (!isDone()) await work(addOwner)
  } finally {
    clearInterval(heartbeat)
    writeTurn(turn, [])
  }
}

function tryTakeTurn() {
  mkdirSync(at(TURNS), { recursive: true })
  const highest = highestTurn()
  if (highest > 0 && isTaken(highest)) return null
  const turn = highest + 1
  try {
    writeTurn(turn, [process.pid], 'wx')
  } catch (error) {
    if (error.code === 'EEXIST') return null
    throw error
  }
  // Lower numbers are cleaned up, so the one just made may have been used and removed before.
  if (highestTurn() !== turn) {
    rmSync(turnPath(turn), { force: true })
    return null
  }
  for (const old of turns()) if (old < turn) rmSync(turnPath(old), { force: true })
  return turn
}

const turnPath = (turn) => at(`${TURNS}/turn-${turn}`)
const highestTurn = () => Math.max(0, ...turns())
const writeTurn = (turn, owners, flag = 'w') =>
  writeFileSync(turnPath(turn), JSON.stringify(owners), { flag })

function turns() {
  return readdirSync(at(TURNS))
    .filter((name) => name.startsWith('turn-'))
    .map((name) => Number(name.slice('turn-'.length)))
}

function isTaken(turn) {
  try {
    const silentMs = Date.now() - statSync(turnPath(turn)).mtimeMs
    const owners = JSON.parse(readFileSync(turnPath(turn), 'utf8'))
    return silentMs < HEARTBEAT_LOST_MS && owners.some(isRunning)
  } catch (error) {
    // It is being written this moment, or removed because somebody has a higher one.
    if (error instanceof SyntaxError || error.code === 'ENOENT') return true
    throw error
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

async function install(key, onStart) {
  say('installing dependencies (npm ci)')
  rmSync(at(INSTALL_STAMP), { force: true })
  const npm = process.env.npm_execpath || ''
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']
  // The npm that runs us is the one to install with; another package manager is not.
  if (/npm-cli\.c?js$/.test(npm)) await run([process.execPath, npm, ...args], onStart)
  else await run(['npm', ...args], onStart)
  writeFileSync(at(INSTALL_STAMP), key)
}

/** Compiles beside the old dist and swaps, so that a program that is just starting finds a whole one. */
async function build(key, onStart) {
  say('building (tsc)')
  const next = at('dist.next')
  rmSync(next, { recursive: true, force: true })
  const compiler = at('node_modules/typescript/bin/tsc')
  await run(
    [process.execPath, compiler, '-p', at('tsconfig.build.json'), '--outDir', next],
    onStart,
  )
  rmSync(at(BUILD_STAMP), { force: true })
  rmSync(at('dist'), { recursive: true, force: true })
  renameSync(next, at('dist'))
  writeFileSync(at(BUILD_STAMP), key)
}

/** Standard output belongs to the command that the user typed, so all of ours is on stderr. */
async function run([command, ...args], onStart) {
  const shell = command === 'npm' && process.platform === 'win32'
  const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 2, 2], env: cleanEnv(), shell })
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(code === null ? signal : code))
  })
  if (child.pid !== undefined) onStart(child.pid)
  const status = await ended
  if (status !== 0) throw new BootstrapError(`${[command, ...args].join(' ')} failed (${status})`)
}

/** Options given to the outer npm, such as --omit=dev or --prefix, are not meant for this install. */
function cleanEnv() {
  const outer = /^(node_env|npm_(lifecycle|package)_.*)$/i
  const options =
    /^npm_config_(also|dry_run|global|ignore_scripts|include|location|omit|only|prefix|production|workspaces?)$/i
  const kept = ([name]) => !outer.test(name) && !options.test(name)
  return Object.fromEntries(Object.entries(process.env).filter(kept))
}

async function bootstrap() {
  const manifest = JSON.parse(readFileSync(at('package.json'), 'utf8'))
  assertNodeIsRecent(manifest)
  const isInstalled = () => readOrEmpty(INSTALL_STAMP) === installKey(manifest)
  await inTurn(isInstalled, (onStart) => install(installKey(manifest), onStart))
  if (!process.argv.includes('--build')) return
  const isBuilt = () => existsSync(at('dist')) && readOrEmpty(BUILD_STAMP) === buildKey()
  await inTurn(isBuilt, (onStart) => build(buildKey(), onStart))
}

bootstrap().catch((error) => {
  say(error instanceof BootstrapError ? error.message : error.stack)
  process.exitCode = 1
})

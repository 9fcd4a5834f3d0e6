import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const OPTIONS = [
  '--no-audit',
  '--no-fund',
  '--progress=true',
  // Nothing here needs a script at install.
  '--ignore-scripts',
  // Warnings about an older system Node say nothing: all that follows runs on one that fits.
  '--loglevel=error',
]

/**
 * Runs `npm ci` in a folder unless what is installed there is what its lockfile says. `need` says why the folder is needed at all.
 * npm writes its own record of the installed tree last, so an interrupted install has none.
 */
export function ensureInstalled(root, need) {
  const reason = reasonToInstall(root)
  if (reason === undefined) return
  process.stdout.write(`Installing from package-lock.json (npm ci): ${need ?? reason}.\n`)
  const startedAt = Date.now()
  const npm = npmCommand()
  const args = [...npm.args, 'ci', ...OPTIONS]
  const { status, error } = spawnSync(npm.command, args, { cwd: root, stdio: 'inherit', shell: npm.shell })
  if (status !== 0) {
    const detail = error === undefined ? `exit code ${status}` : error.message
    throw new Error(`npm ci failed (${detail}). Its own message stands above.`)
  }
  process.stdout.write(`Installed in ${((Date.now() - startedAt) / 1000).toFixed(1)} s.\n`)
}

/** Undefined when the installed tree agrees with the lockfile. */
export function reasonToInstall(root) {
  const installed = readPackages(join(root, 'node_modules', '.package-lock.json'))
  if (installed === undefined) return 'nothing is installed yet'
  const locked = readPackages(join(root, 'package-lock.json'))
  if (locked === undefined) throw new Error('package-lock.json is missing: this is no whole checkout.')
  for (const [path, wanted] of Object.entries(locked)) {
    if (!path.includes('node_modules/')) continue
    const present = installed[path]
    // Another platform's package is not installed, and need not be.
    if (present === undefined && wanted.optional === true) continue
    if (present?.version !== wanted.version || present?.integrity !== wanted.integrity) {
      return `${path.slice(path.lastIndexOf('node_modules/') + 13)} is not as locked`
    }
  }
  return undefined
}

function readPackages(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : undefined
}

/** The npm that runs us, or the one in the path. */
function npmCommand() {
  const running = process.env.npm_execpath
  if (running !== undefined && basename(running) === 'npm-cli.js') {
    return { command: process.execPath, args: [running], shell: false }
  }
  // npm is a .cmd file on Windows, which only a shell can start.
  return { command: 'npm', args: [], shell: process.platform === 'win32' }
}

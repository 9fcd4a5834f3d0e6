import { spawnSync } from 'node:child_process'
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { ensureInstalled } from './install.mjs'

/** This folder installs apart from the workspaces, so that a user with a fitting Node downloads no second one. */
const OWN_NODE = join('scripts', 'own-node')

/**
 * The path of a Node that may run the project: the one that runs this if `engines` allows it, and else the project's own, which is
 * installed first if it is not there.
 */
export function findNode(root) {
  const range = readJson(join(root, 'package.json')).engines.node
  if (satisfies(process.versions.node, range)) return process.execPath
  const folder = join(root, OWN_NODE)
  ensureInstalled(folder, `this is Node ${process.versions.node}, and the project needs ${range}`)
  const own = ownBinaries(folder).find((path) => satisfies(readVersion(path), range))
  if (own !== undefined) {
    offerToNpmExec(own, join(root, 'node_modules', '.bin'))
    return own
  }
  throw new Error(
    `No fitting Node: this is ${process.versions.node}, the project needs ${range}, and npm installed no Node ` +
      `for ${process.platform}-${process.arch}. Install such a Node, or let npm install optional dependencies.`,
  )
}

/** `npm exec` and `npm run` take their `node` from this folder first. An `npm ci` empties it. */
function offerToNpmExec(node, binFolder) {
  mkdirSync(binFolder, { recursive: true })
  const isWindows = process.platform === 'win32'
  const link = join(binFolder, isWindows ? 'node.exe' : 'node')
  rmSync(link, { force: true })
  if (isWindows) linkSync(node, link)
  else symlinkSync(node, link)
}

/** Makes an environment in which `node` means the given one, also for the programs that a child starts in turn. */
export function nodeEnvironment(node) {
  const key = Object.keys(process.env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH'
  const path = [dirname(node), process.env[key]].filter(Boolean).join(delimiter)
  return { ...process.env, [key]: path }
}

function ownBinaries(folder) {
  return Object.keys(readJson(join(folder, 'package.json')).optionalDependencies)
    .map((name) => join(folder, 'node_modules', name))
    .filter((place) => existsSync(join(place, 'package.json')))
    .filter((place) => isForThisPlatform(readJson(join(place, 'package.json'))))
    .flatMap((place) => [join(place, 'bin', 'node'), join(place, 'bin', 'node.exe')])
    .filter((path) => existsSync(path))
}

function isForThisPlatform({ os, cpu }) {
  return [os].flat().includes(process.platform) && [cpu].flat().includes(process.arch)
}

/** Undefined when it does not start here, e.g. a binary for glibc where there is only musl. */
function readVersion(path) {
  const { status, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' })
  return status === 0 ? stdout.trim().replace(/^v/, '') : undefined
}

/** Only what `engines` uses: `^1.2.3` and `>=1.2.3`, joined by `||`. */
export function satisfies(version, range) {
  if (version === undefined) return false
  return range.split('||').some((part) => {
    const match = /^\s*(\^|>=)(\d+\.\d+\.\d+)\s*$/.exec(part)
    if (match === null) throw new Error(`This range is not understood: ${range}`)
    const [, operator, floor] = match
    return compare(version, floor) >= 0 && (operator === '>=' || toMajor(version) === toMajor(floor))
  })
}

function compare(left, right) {
  const [a, b] = [left, right].map((text) => text.split('.').map(Number))
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2]
}

function toMajor(version) {
  return version.split('.')[0]
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'))
}

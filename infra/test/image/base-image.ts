import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { readOutput } from '../run-command.ts'
import type { Buildah } from './buildah.ts'
import { findOnPath } from './tools.ts'

/** The replacement for the base has this name. It is the name in the Dockerfile, in full and without a digest. */
export const BASE = 'docker.io/library/node:24-bookworm-slim'
const EXCLUDED = ['doc', 'man', 'locale', 'info'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`)
/** A merged /usr needs only this empty package. The one that apt would choose brings a Perl of 45 MB. */
const MERGED = 'usr-is-merged'
const UNNEEDED =
  'usrmerge perl perl-modules-5.36 libperl5.36 libfile-find-rule-perl libnumber-compare-perl libtext-glob-perl libgdbm6 libgdbm-compat4'
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt'

/**
 * Builds a replacement for Docker's image of Node, which no package registry has. It is the smallest Debian bookworm, as
 * slim as Debian's own slim image, with the Node that runs this and an npm. It is kept, since Debian is downloaded for it.
 */
export async function ensureBaseImage(buildah: Buildah, folder: string): Promise<void> {
  const images = await buildah.run('images', '--all', '--format', '{{.Name}}:{{.Tag}}')
  if (images.split('\n').includes(BASE)) return
  const debian = join(folder, 'bookworm-slim.tar')
  if (!existsSync(debian)) await makeDebian(debian)
  const files = mkdtempSync(join(tmpdir(), 'counterstep-base-'))
  try {
    addNode(files)
    const container = await buildah.run('from', 'scratch')
    await buildah.run('add', '--quiet', container, debian, '/')
    await buildah.run('add', '--quiet', container, files, '/')
    const settings = existsSync(CERTIFICATES) ? ['--env', `NODE_EXTRA_CA_CERTS=${CERTIFICATES}`] : []
    await buildah.run('config', '--cmd', 'node', ...settings, container)
    await buildah.run('commit', '--quiet', '--rm', container, BASE)
  } finally {
    rmSync(files, { recursive: true, force: true })
  }
}

async function makeDebian(path: string): Promise<void> {
  const unfinished = `${path}.new`
  const without = `--customize-hook=chroot "$1" dpkg --purge ${UNNEEDED}`
  const options = [
    '--variant=minbase',
    '--mode=root',
    '--format=tar',
    `--include=${MERGED}`,
    without,
    ...EXCLUDED,
  ]
  await readOutput('mmdebstrap', [...options, 'bookworm', unfinished])
  renameSync(unfinished, path)
}

function addNode(files: string): void {
  const bin = join(files, 'usr/local/bin')
  const modules = join(files, 'usr/local/lib/node_modules')
  for (const folder of [bin, modules]) mkdirSync(folder, { recursive: true })
  cpSync(process.execPath, join(bin, 'node'), { dereference: true })
  cpSync(findNpmFolder(), join(modules, 'npm'), { recursive: true, dereference: true })
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(bin, 'npm'))
  if (!existsSync(CERTIFICATES)) return
  // On a machine with a proxy, npm must trust the proxy's certificate. The Dockerfile itself does not need this.
  mkdirSync(dirname(join(files, CERTIFICATES)), { recursive: true })
  cpSync(CERTIFICATES, join(files, CERTIFICATES), { dereference: true })
}

/** Finds the npm on the PATH, because the pinned Node comes without one. */
function findNpmFolder(): string {
  const npm = findOnPath('npm')
  if (npm === undefined) throw new Error('no npm on the PATH')
  return dirname(dirname(realpathSync(npm)))
}

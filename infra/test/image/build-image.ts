import { join } from 'node:path'
import { BASE } from './base-image.ts'
import type { Buildah } from './buildah.ts'

/** The configuration of an image has the form that `docker inspect` shows. */
export interface ImageConfig {
  readonly User: string
  readonly Env: readonly string[]
  readonly Cmd?: readonly string[]
  readonly Entrypoint?: readonly string[]
  readonly WorkingDir: string
  readonly Volumes?: Readonly<Record<string, unknown>>
  readonly Healthcheck?: { readonly Test: readonly string[] }
}

export interface Image {
  readonly name: string
  readonly config: ImageConfig
}

/** Builds a target of the unchanged Dockerfile on the local base, which is named by its tag, since it has another digest. */
export async function buildImage(buildah: Buildah, root: string, target: string): Promise<Image> {
  const name = `localhost/counterstep-${target}:check`
  const dockerfile = join(root, 'infra', 'Dockerfile')
  const options = ['--format', 'docker', '--isolation', 'chroot', '--pull-never', '--layers', '--quiet']
  options.push('--build-arg', `NODE_IMAGE=${BASE}`)
  await buildah.run('bud', ...options, '--file', dockerfile, '--target', target, '--tag', name, root)
  const { Docker } = JSON.parse(await buildah.run('inspect', '--type', 'image', name))
  return { name, config: Docker.config }
}

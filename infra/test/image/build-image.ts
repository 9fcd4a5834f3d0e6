import { join } from 'node:path'
import type { Buildah } from './buildah.ts'

/** As `docker inspect` shows it. */
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

/** Builds a target of the unchanged Dockerfile, as Docker would with an image of Node that it has. */
export async function buildImage(buildah: Buildah, root: string, target: string): Promise<Image> {
  const name = `localhost/counterstep-${target}:check`
  const dockerfile = join(root, 'infra', 'Dockerfile')
  const options = ['--format', 'docker', '--isolation', 'chroot', '--pull-never', '--layers', '--quiet']
  await buildah.run('bud', ...options, '--file', dockerfile, '--target', target, '--tag', name, root)
  const { Docker } = JSON.parse(await buildah.run('inspect', '--type', 'image', name))
  return { name, config: Docker.config }
}

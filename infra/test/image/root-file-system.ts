import type { Image } from './build-image.ts'
import type { Buildah } from './buildah.ts'

export interface RootFileSystem {
  readonly image: Image
  readonly folder: string
  remove(): Promise<void>
}

/** Mounts the files of an image as a new container would see them. */
export async function mountImage(buildah: Buildah, image: Image): Promise<RootFileSystem> {
  const container = await buildah.run('from', '--pull-never', image.name)
  return {
    image,
    folder: await buildah.run('mount', container),
    remove: async () => {
      await buildah.run('rm', container)
    },
  }
}

import { type Container, type ContainerOptions, startContainer } from './container.ts'
import type { RootFileSystem } from './root-file-system.ts'

/** Those of one check, so that none outlives it, however it ends. */
export class StartedContainers {
  readonly #started: Container[] = []

  start(root: RootFileSystem, options: ContainerOptions): Container {
    const container = startContainer(root, options)
    this.#started.push(container)
    return container
  }

  async end(): Promise<void> {
    await Promise.all(this.#started.map((container) => container.end()))
  }
}

import { type Container, type ContainerOptions, startContainer } from './container.ts'
import type { RootFileSystem } from './root-file-system.ts'

/** Starts the containers of one check, and ends them with it, even if it fails. */
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

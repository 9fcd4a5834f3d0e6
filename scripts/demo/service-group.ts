import { Service, type ServiceSpec } from './service.ts'

/** Services that live and end together. */
export class ServiceGroup {
  readonly #services: Service[] = []
  #fail: (error: unknown) => void = () => undefined
  /** Rejects when one of them ends although it was not asked to. */
  readonly trouble = new Promise<never>((_resolve, reject) => {
    this.#fail = reject
  })

  constructor() {
    // A caller that awaits `trouble` sees the rejection. Without one it is ignored here, and is not reported as
    // unhandled.
    this.trouble.catch(() => undefined)
  }

  /** Answers the URL under which it listens. */
  async start(spec: ServiceSpec): Promise<string> {
    const service = new Service(spec)
    this.#services.push(service)
    const url = await service.ready()
    service.died().catch(this.#fail)
    return url
  }

  /** One after the other, in the order of their starts: the orchestrator's last calls still find their banks. */
  async stop(): Promise<void> {
    for (const service of this.#services) await service.stop()
  }

  kill(): void {
    for (const service of this.#services) service.kill()
  }
}

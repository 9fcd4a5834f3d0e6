/** A program in another language, which drives an orchestrator with one of DTM's own clients. */
export interface ClientProgram {
  readonly name: string
  /** It is told where the gRPC API is. */
  readonly speaksGrpc?: true
  /** Why it cannot be built on this machine, or undefined. */
  readonly missing: () => Promise<string | undefined>
  /** Brings its packages and compiles it into the cache folder. */
  readonly build: (cacheFolder: string) => Promise<StartCommand>
}

export interface StartCommand {
  readonly command: string
  readonly args: readonly string[]
  readonly variables?: Readonly<Record<string, string>>
}

/** The part of V8's .cpuprofile that is needed here. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[]
  readonly samples: readonly number[]
  /** Microseconds since the sample before. */
  readonly timeDeltas: readonly number[]
}

export interface ProfileNode {
  readonly id: number
  readonly children?: readonly number[]
  readonly callFrame: CallFrame
}

export interface CallFrame {
  readonly functionName: string
  readonly url: string
  readonly lineNumber: number
}

export function toPackageName({ functionName, url }: CallFrame): string {
  if (url.startsWith('node:')) return shortUrl(url).split('/').slice(0, 2).join('/')
  const dependency = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1]
  const own = /\/packages\/([^/]+)\//.exec(url)?.[1]
  return dependency ?? (own === undefined ? functionName : `packages/${own}`)
}

export function isOwn({ url }: CallFrame): boolean {
  return url.includes('/packages/') && !url.includes('/node_modules/')
}

export function shortUrl(url: string): string {
  return url.replace(/^.*\/node_modules\//, '').replace(/^.*\/packages\//, 'packages/')
}

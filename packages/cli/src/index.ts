export type { Command, ServeConfig } from './config.ts'
export { readCommand } from './config.ts'
export type { ServeDeps, Serving } from './serve.ts'
export { serve } from './serve.ts'

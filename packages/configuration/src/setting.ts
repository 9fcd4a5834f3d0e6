import { type TextSchema, trueOrFalse } from './schemas.ts'

export type StoreFamily = 'sqlite' | 'mysql' | 'redis'
/** `any`: whatever host it is. */
export type HostKind = 'any' | 'server' | 'function'

/** One thing a user may set. */
export interface Setting<Value = unknown, Host extends HostKind = HostKind> {
  readonly host: Host
  readonly schema: TextSchema<Value>
  readonly help: string
  /** In the words that the schema reads. */
  readonly fallback: string
  /** The stores that it is for; undefined: whatever the store. */
  readonly stores: readonly StoreFamily[] | undefined
}

export type Settings = Readonly<Record<string, Setting>>

/** What settings turn into, under the same names. */
export type ValuesOf<Group extends Settings> = {
  readonly [Name in keyof Group]: Group[Name] extends Setting<infer Value> ? Value : never
}

/** Returns what makes settings of one host, or of any. */
export function declareSettings<const Host extends HostKind>(host: Host) {
  return <Value>(
    schema: TextSchema<Value>,
    help: string,
    fallback: string | number = '',
    stores?: readonly StoreFamily[],
  ): Setting<Value, Host> => ({ host, schema, help, fallback: String(fallback), stores })
}

/** The flag of a setting, without its dashes: `storeTls` is `store-tls`. */
export function toFlag(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** The variable of a setting: `storeTls` is `COUNTERSTEP_STORE_TLS`. */
export function toVariable(name: string): string {
  return `COUNTERSTEP_${toFlag(name).toUpperCase().replaceAll('-', '_')}`
}

/** Whether its flag stands alone and means `true`. */
export function isSwitch({ schema }: Setting): boolean {
  return schema === trueOrFalse
}

import { type TextSchema, trueOrFalse } from './schemas.ts'

export type StoreFamily = 'sqlite' | 'mysql' | 'postgres' | 'redis'
/** `any` stands for both kinds of host. */
export type HostKind = 'any' | 'server' | 'function'

/** Describes one setting of a user. */
export interface Setting<Value = unknown, Host extends HostKind = HostKind> {
  readonly host: Host
  readonly schema: TextSchema<Value>
  readonly help: string
  /** It is written as the schema reads it. */
  readonly fallback: string
  /** It lists the stores that the setting is for. It is undefined if the setting is for every store. */
  readonly stores: readonly StoreFamily[] | undefined
  /** If it is true, an empty text is refused, which counts as not set otherwise. */
  readonly refusesEmpty?: true
}

export type Settings = Readonly<Record<string, Setting>>

/** Gives the values of settings under the same names. */
export type ValuesOf<Group extends Settings> = {
  readonly [Name in keyof Group]: Group[Name] extends Setting<infer Value> ? Value : never
}

/** Returns a function that makes settings of one kind of host, or of any. */
export function declareSettings<const Host extends HostKind>(host: Host) {
  return <Value>(
    schema: TextSchema<Value>,
    help: string,
    fallback: string | number = '',
    stores?: readonly StoreFamily[],
  ): Setting<Value, Host> => ({ host, schema, help, fallback: String(fallback), stores })
}

/** Returns the flag of a setting without its dashes: `storeTls` becomes `store-tls`. */
export function toFlag(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** Returns the variable of a setting: `storeTls` becomes `COUNTERSTEP_STORE_TLS`. */
export function toVariable(name: string): string {
  return `COUNTERSTEP_${toFlag(name).toUpperCase().replaceAll('-', '_')}`
}

/** Tells whether the flag of a setting stands alone and means `true`. */
export function isSwitch({ schema }: Setting): boolean {
  return schema === trueOrFalse
}

import type { RouteAccess } from '@counterstep/access'
import type { ErrorCode } from '@counterstep/protocol'
import type { SchemaName } from '@counterstep/protocol/schemas'

export type JsonObject = { readonly [key: string]: unknown }

/** Describes one route for the OpenAPI document. It stands beside the route, so that they change together. */
export interface Operation {
  readonly method: 'get' | 'post' | 'delete'
  /** The path is written as in the document: `/v1/transactions/{gid}`. */
  readonly path: string
  readonly id: string
  readonly tag: 'transactions' | 'operations'
  /** Only these callers may use the route once there are keys. The route takes it from here. */
  readonly access: RouteAccess
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly JsonObject[]
  /** A caller may send `Prefer: wait=N`, up to the longest wait of the API. */
  readonly takesPrefer?: true
  readonly body?: {
    readonly schema: SchemaName
    readonly required: boolean
    /** The key of each example is its name in the document. */
    readonly examples: Readonly<Record<string, unknown>>
  }
  readonly answers: Readonly<Record<number, Answer>>
  /** The route may answer with these codes, and with SAGA_INTERNAL and SAGA_STOPPING as every route may. */
  readonly problems: readonly ErrorCode[]
}

export type Answer = JsonAnswer | TextAnswer

export interface JsonAnswer {
  readonly description: string
  readonly schema: SchemaName
  readonly example: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface TextAnswer {
  readonly description: string
  readonly contentType: string
}

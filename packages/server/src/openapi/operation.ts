import type { RouteAccess } from '@counterstep/access'
import type { ErrorCode } from '@counterstep/protocol'
import type { SchemaName } from '@counterstep/protocol/schemas'

export type JsonObject = { readonly [key: string]: unknown }

/** Describes one route for the OpenAPI document. It stands beside the route, so that they change together. */
export interface Operation {
  readonly method: 'get' | 'post'
  /** In the document's spelling: `/v1/transactions/{gid}`. */
  readonly path: string
  readonly id: string
  readonly tag: 'transactions' | 'operations'
  /** Who may use it, once there are keys. The route takes it from here. */
  readonly access: RouteAccess
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly JsonObject[]
  /** `Prefer: wait=N`, up to the longest wait of the face. */
  readonly takesPrefer?: true
  readonly body?: {
    readonly schema: SchemaName
    readonly required: boolean
    /** The examples by their names. */
    readonly examples: Readonly<Record<string, unknown>>
  }
  readonly answers: Readonly<Record<number, Answer>>
  /** Every code it may answer with, beside SAGA_INTERNAL and SAGA_STOPPING, which each route may. */
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

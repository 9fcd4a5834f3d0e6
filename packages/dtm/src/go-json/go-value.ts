/** JSON as Go's decoder reads it. It has every key in its order, including repeated ones, and each number as written. */
export type GoValue =
  | { readonly type: 'null' }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'number'; readonly text: string }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'array'; readonly items: readonly GoValue[] }
  | { readonly type: 'object'; readonly members: readonly GoMember[] }

export interface GoMember {
  readonly key: string
  readonly value: GoValue
}

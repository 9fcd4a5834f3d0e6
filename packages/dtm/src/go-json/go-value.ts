/** JSON as Go's decoder sees it: every key in its order, also those that come twice, and each number as it was written. */
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

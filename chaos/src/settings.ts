/** The stores that the runs know. */
export const STORES = ['sqlite', 'mysql', 'redis'] as const
export type StoreName = (typeof STORES)[number]

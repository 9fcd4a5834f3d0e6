import { CounterstepError } from './errors.ts'

/** JSON.stringify would quietly turn NaN and Infinity into null. */
export function toJson(value: object | string | number | boolean | null, gid: string): string {
  return JSON.stringify(value, (key, each: unknown) => {
    if (typeof each !== 'number' || Number.isFinite(each)) return each
    throw new CounterstepError('SAGA_NUMBER_NOT_EXACT', `${key} is ${each}, which JSON cannot hold`, {
      meaning: 'failure',
      gid,
    })
  })
}

import type { Caller } from '../../core/api/operation.ts';

/** Returns the base that a caller names, or that its terminal has. */
export const chooseBase = (wanted: { base?: string | undefined }, caller: Caller): string | undefined =>
  wanted.base ?? caller.env.SVC_GIT_BASE;

/** Returns an object with that field, or without it for undefined. */
export const optionalField = <K extends string>(key: K, value: string | undefined) =>
  (value === undefined ? {} : { [key]: value }) as { [P in K]?: string };

import { shownAddress } from '../core/http/shown-address.ts';

/** Returns the key of a target in displayable form: an address may be a secret. */
export const shownTarget = (key: string): string => (key.includes(' ') ? key : shownAddress(key));

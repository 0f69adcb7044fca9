import { isSecretHeader, redactSecrets } from '../core/base/redact.ts';
import { maskedAddress, shownAddress } from '../core/http/shown-address.ts';
import { isTree } from './layers.ts';

const HIDDEN = '***';

/**
 * Masks secrets in a value: keys in the file and credentials in headers become `***`; target addresses, and others
 * with credentials or a query, become their origin and a few digits; other secrets are redacted as everywhere.
 */
export function maskSecrets<V>(value: V): V {
  return maskAt(value, []) as V;
}

function maskAt(value: unknown, path: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((entry) => maskAt(entry, path));
  if (isTree(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, maskAt(member, [...path, key])]),
    );
  if (typeof value !== 'string' || value === '') return value;
  const [name = '', around] = [...path].reverse();
  if (name === 'api_key' || (around === 'headers' && isSecretHeader(name))) return HIDDEN;
  if (around === 'webhooks' && name === 'url') return shownAddress(value);
  return redactSecrets(maskedAddress(value)).text;
}

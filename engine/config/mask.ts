import { isTree } from './layers.ts';

export const SECRET_NAME = /authorization|token|secret|password|key|cookie/i;
const HIDDEN = '***';

/** The value with secrets replaced by `***`: keys in the file, credentials in headers and in addresses. */
export function masked<V>(value: V): V {
  return mask(value, '', false) as V;
}

function mask(value: unknown, name: string, header: boolean): unknown {
  if (Array.isArray(value)) return value.map((entry) => mask(entry, name, header));
  if (isTree(value)) {
    const inHeaders = name === 'headers';
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, mask(member, key, inHeaders)]),
    );
  }
  if (typeof value !== 'string' || value === '') return value;
  if (name === 'api_key' || (header && SECRET_NAME.test(name))) return HIDDEN;
  return value.replace(/^(https?:\/\/)[^/?#@\s]+@/i, `$1${HIDDEN}@`);
}

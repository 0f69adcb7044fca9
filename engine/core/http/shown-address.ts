import { hash } from 'node:crypto';

// An address is often a secret itself: who knows a catch URL may post to it.

/**
 * An address as it may be shown: where it leads, and eight digits that tell it from another one there. Its path, query,
 * user and password stay here.
 */
export function shownAddress(address: string): string {
  if (!URL.canParse(address)) return '(not an address)';
  const { origin, pathname, search, hash: fragment, username, password } = new URL(address);
  const rest = [username, password, pathname === '/' ? '' : pathname, search, fragment];
  if (rest.every((part) => part === '')) return origin;
  return `${origin}/…${hash('sha256', JSON.stringify(rest)).slice(0, 8)}`;
}

/** The same of one that carries a user, a password or a query; any other, and what is no address, as it is. */
export function maskedAddress(text: string): string {
  if (!/^https?:\/\//i.test(text)) return text;
  if (!URL.canParse(text))
    return text.replace(/^(https?:\/\/)[^/?#@\s]*@/i, '$1***@').replace(/\?.*$/s, '?***');
  const { username, password, search } = new URL(text);
  return username === '' && password === '' && search === '' ? text : shownAddress(text);
}

import { hash } from 'node:crypto';

// An address is often a secret: anyone who knows a catch URL may post to it.

/**
 * Returns an address in displayable form: its origin, and eight digits that distinguish it from others there. Path,
 * query, user and password are hidden.
 */
export function shownAddress(address: string): string {
  if (!URL.canParse(address)) return '(not an address)';
  const { origin, pathname, search, hash: fragment, username, password } = new URL(address);
  const rest = [username, password, pathname === '/' ? '' : pathname, search, fragment];
  if (rest.every((part) => part === '')) return origin;
  return `${origin}/…${hash('sha256', JSON.stringify(rest)).slice(0, 8)}`;
}

/** Does the same for an address with a user, a password or a query; returns any other text unchanged. */
export function maskedAddress(text: string): string {
  if (!/^https?:\/\//i.test(text)) return text;
  if (!URL.canParse(text))
    return text.replace(/^(https?:\/\/)[^/?#@\s]*@/i, '$1***@').replace(/\?.*$/s, '?***');
  const { username, password, search } = new URL(text);
  return username === '' && password === '' && search === '' ? text : shownAddress(text);
}

import { fieldsInvalidError } from './body.ts';

// Who sent a request, in names that no user of this machine has: a shown name is whatever its bearer likes.

/** As chat services give them out; anything else could be made to look like another's. */
const CHAT_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const LOGIN = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?(?:\[bot\])?$/;

/** `chat:U2147`. Throws `fields_invalid`: nobody acts without an id. */
export function formatChatActor(userId: string | undefined): string {
  if (userId !== undefined && CHAT_ID.test(userId)) return `chat:${userId}`;
  const problem = 'must be the id of a user: up to 64 letters, digits, . _ -';
  throw fieldsInvalidError([{ field: 'user_id', problem }]);
}

/** `codehost:octocat`; `codehost:unknown!` for one that has no login, which is nobody's. */
export const formatCodehostActor = (login: string | null): string =>
  login !== null && LOGIN.test(login) ? `codehost:${login}` : 'codehost:unknown!';

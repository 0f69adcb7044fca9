import { fieldsInvalidError } from '../core/http/body.ts';

// Actor names for senders, which no user of this machine can have. Display names are not used: anyone can choose any.

/** Ids as chat services assign them; anything else could imitate another user's. */
const CHAT_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const LOGIN = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?(?:\[bot\])?$/;

/** Formats a chat user's actor name, such as `chat:U2147`. Throws `fields_invalid` without a valid id. */
export function formatChatActor(userId: string | undefined): string {
  if (userId !== undefined && CHAT_ID.test(userId)) return `chat:${userId}`;
  const problem = 'must be the id of a user: up to 64 letters, digits, . _ -';
  throw fieldsInvalidError([{ field: 'user_id', problem }]);
}

/** Reports whether a text can be the login of a code host's user. */
export const isCodehostLogin = (text: string): boolean => LOGIN.test(text);

/** Formats a code host user's actor name, such as `codehost:octocat`; `codehost:unknown!`, which no user can have, without a login. */
export const formatCodehostActor = (login: string | null): string =>
  login !== null && isCodehostLogin(login) ? `codehost:${login}` : 'codehost:unknown!';

import { ChatSendError, type SendProblem } from '../service.ts';

/** Slack refuses the bot itself, for every message. */
export class BotRefusedError extends ChatSendError {
  /** True if the token is of another kind. */
  readonly isTokenTaken: boolean;
  constructor(message: string, isTokenTaken: boolean) {
    super('refused', message);
    this.isTokenTaken = isTokenTaken;
  }
}

/** Slack's error codes and their meaning here; they are those of its Web API. */
const PROBLEMS: Readonly<Record<string, readonly [SendProblem | 'token' | 'scope', string]>> = {
  invalid_auth: ['token', 'Slack rejects the token'],
  not_authed: ['token', 'Slack rejects the token'],
  token_revoked: ['token', 'the token was revoked'],
  token_expired: ['token', 'the token has expired'],
  account_inactive: ['token', 'the app was removed from its Slack workspace'],
  org_login_required: ['token', 'the Slack workspace is being moved to an organization'],
  access_denied: ['token', 'Slack does not admit the app'],
  missing_scope: ['scope', 'the token lacks a scope; docs/team/server.md lists them'],
  not_allowed_token_type: ['scope', 'this is not the kind of token that Slack expects here'],
  no_permission: ['scope', 'the app may not do this in its Slack workspace'],
  restricted_action: ['refused', 'an admin of the Slack workspace does not let the app post there'],
  restricted_action_read_only_channel: ['refused', 'only admins may post in this channel'],
  msg_too_long: ['refused', 'the message is too long for Slack'],
  msg_blocks_too_long: ['refused', 'the message is too long for Slack'],
  invalid_blocks: ['refused', 'Slack rejects the message in this form'],
  invalid_blocks_format: ['refused', 'Slack rejects the message in this form'],
  invalid_arguments: ['refused', 'Slack rejects the message in this form'],
  no_text: ['refused', 'Slack rejects the message in this form'],
  channel_not_found: ['gone', 'the channel does not exist, or the app cannot see it'],
  not_in_channel: ['gone', 'the app is not in the channel; invite it there'],
  user_not_in_channel: ['gone', 'that person is not in the channel'],
  user_not_found: ['gone', 'that person is not in the Slack workspace'],
  is_archived: ['gone', 'the channel is archived'],
  message_not_found: ['gone', 'the message was deleted'],
  cant_update_message: ['gone', 'the message does not belong to the app'],
  edit_window_closed: ['gone', 'the Slack workspace does not allow changes to messages of this age'],
  ratelimited: ['later', 'Slack limits the rate of requests'],
  rate_limited: ['later', 'Slack limits the rate of requests'],
  internal_error: ['later', 'Slack has an internal error'],
  fatal_error: ['later', 'Slack has an internal error'],
  service_unavailable: ['later', 'Slack is not available'],
  team_added_to_org: ['later', 'the Slack workspace is being moved to an organization'],
  request_timeout: ['later', 'Slack did not get the request in time'],
};

/** Interprets an answer with `ok: false`. An unknown code may be temporary, so it is retried. */
export function readProblem(code: string, retryAfterMs: number | null): ChatSendError {
  const known = Object.hasOwn(PROBLEMS, code) ? PROBLEMS[code] : undefined;
  const [problem, words] = known ?? ['later', 'Slack refused, with an unknown reason'];
  if (problem === 'token' || problem === 'scope') return new BotRefusedError(words, problem === 'scope');
  return new ChatSendError(problem, words, retryAfterMs);
}

import { z } from 'zod';
import { readSlackMarkup } from '../../../core/http/slack-markup.ts';

// Parses Slack's payloads about people's actions. Only used fields are read; Slack adds fields at any time.

const id = z.string().regex(/^[A-Z0-9]{1,40}$/);
/** Identifies a message within its channel. */
const timestamp = z.string().regex(/^\d{1,20}\.\d{1,10}$/);

/** A button was pressed. */
const blockActions = z.looseObject({
  type: z.literal('block_actions'),
  api_app_id: id,
  team: z.looseObject({ id }).nullish(),
  user: z.looseObject({ id, name: z.string().nullish(), username: z.string().nullish() }),
  container: z.looseObject({ channel_id: id, message_ts: timestamp }),
  channel: z.looseObject({ id, name: z.string().nullish() }).nullish(),
  actions: z
    .array(
      z.looseObject({
        action_id: z.string(),
        action_ts: z.string(),
        value: z.string().nullish(),
      }),
    )
    .min(1),
});

const messageEvent = z.looseObject({
  type: z.enum(['message', 'app_mention']),
  subtype: z.string().nullish(),
  bot_id: z.string().nullish(),
  user: id.nullish(),
  text: z.string().nullish(),
  channel: id,
  channel_type: z.string().nullish(),
  ts: timestamp,
});

const eventCallback = z.looseObject({
  type: z.literal('event_callback'),
  api_app_id: id,
  team_id: id,
  event: z.looseObject({ type: z.string() }),
});

/** The sending Slack workspace and app. */
export interface SlackOrigin {
  teamId: string | null;
  appId: string;
}

interface PressedButton {
  kind: 'press';
  origin: SlackOrigin;
  user: { id: string; name: string };
  channel: string;
  channelName: string | null;
  isPrivate: boolean;
  messageId: string;
  ticket: string;
  /** The same in each repetition by Slack. */
  key: string;
}

interface SaidWords {
  kind: 'words';
  origin: SlackOrigin;
  user: string;
  channel: string;
  isPrivate: boolean;
  /** As Slack sends it, with its markup. */
  text: string;
  key: string;
}

/** The action for a payload. */
export type SlackAction =
  | PressedButton
  | SaidWords
  /** Acknowledged without an action: a button that opens a page, messages of bots, other events. */
  | { kind: 'nothing'; origin: SlackOrigin }
  /** Not a payload of Slack. */
  | { kind: 'malformed' };

const MALFORMED: SlackAction = { kind: 'malformed' };

function readPress(payload: unknown): SlackAction {
  const parsed = blockActions.safeParse(payload);
  if (!parsed.success) return MALFORMED;
  const { api_app_id, team, user, container, channel, actions } = parsed.data;
  const origin = { teamId: team?.id ?? null, appId: api_app_id };
  const [action] = actions;
  if (action === undefined || !action.action_id.startsWith('press-') || typeof action.value !== 'string')
    return { kind: 'nothing', origin };
  return {
    kind: 'press',
    origin,
    user: { id: user.id, name: user.username ?? user.name ?? user.id },
    channel: container.channel_id,
    channelName: channel?.name ?? null,
    isPrivate: container.channel_id.startsWith('D'),
    messageId: container.message_ts,
    ticket: action.value,
    key: ['press', container.channel_id, container.message_ts, user.id, action.action_ts].join(' '),
  };
}

function readSlackEvent(payload: unknown): SlackAction {
  const parsed = eventCallback.safeParse(payload);
  if (!parsed.success) return MALFORMED;
  const { api_app_id, team_id, event } = parsed.data;
  const origin = { teamId: team_id, appId: api_app_id };
  const nothing: SlackAction = { kind: 'nothing', origin };
  const message = messageEvent.safeParse(event);
  if (!message.success) return nothing;
  const { type, subtype, bot_id, user, text, channel, channel_type, ts } = message.data;
  // A subtype means that a message was changed, deleted or sent by something other than a person.
  if (typeof subtype === 'string' || typeof bot_id === 'string') return nothing;
  if (typeof user !== 'string' || typeof text !== 'string') return nothing;
  const isPrivate = channel_type === 'im' || channel.startsWith('D');
  if (type === 'message' && !isPrivate) return nothing;
  // By message and not by event: a mention in a direct message arrives as both.
  return { kind: 'words', origin, user, channel, isPrivate, text, key: ['words', channel, ts].join(' ') };
}

/** Reads the payload of an interaction or of an event. */
export function readPayload(payload: unknown): SlackAction {
  const kind = z.looseObject({ type: z.string() }).safeParse(payload);
  if (!kind.success) return MALFORMED;
  const { type } = kind.data;
  if (type === 'block_actions') return readPress(payload);
  if (type === 'event_callback') return readSlackEvent(payload);
  const other = z.looseObject({ api_app_id: id, team_id: id.nullish() }).safeParse(payload);
  if (!other.success) return MALFORMED;
  return {
    kind: 'nothing',
    origin: { teamId: other.data.team_id ?? null, appId: other.data.api_app_id },
  };
}

const LONGEST_WORDS = 1000;

/** Extracts a person's text: without Slack's markup, the mention of the bot and a leading slash. */
export const readWords = (text: string, botUserId: string): string =>
  readSlackMarkup(text.slice(0, 4 * LONGEST_WORDS).replaceAll(`<@${botUserId}>`, ' '))
    .trim()
    .replace(/^\//, '')
    .trim()
    .slice(0, LONGEST_WORDS);

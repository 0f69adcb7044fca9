import * as z from 'zod';
import { refineWith } from '../core/base/values/duration.ts';
import { httpUrlKey, variableKey } from '../core/base/values/variable.ts';
import { EVENT_NAMES, type OutboundEvent } from './events.ts';
import { parseQuietHours } from './quiet-hours.ts';

/** The name of an outbound event. */
export const outboundEvent = z.enum(EVENT_NAMES as [OutboundEvent, ...OutboundEvent[]]);

const webhook = z.strictObject({
  url: httpUrlKey(true).meta({ description: 'address that events are posted to' }),
  events: z.array(outboundEvent).optional().meta({ description: 'events to send; default: all' }),
  secret_env: variableKey()
    .optional()
    .meta({ description: 'environment variable that holds the secret of the signature' }),
});

const pushEvents = z
  .array(outboundEvent)
  .optional()
  .meta({ description: 'events to send; default: needs_approval, ask_opened, sealed, failed' });

const ntfy = z.strictObject({
  kind: z.literal('ntfy'),
  url: httpUrlKey(true).default('https://ntfy.sh').meta({ description: 'address of the ntfy server' }),
  topic_env: variableKey().min(1).meta({ description: 'environment variable that holds the topic' }),
  token_env: variableKey().optional().meta({
    description: 'environment variable that holds the access token, for a server that asks for one',
  }),
  events: pushEvents,
});

const telegram = z.strictObject({
  kind: z.literal('telegram'),
  url: httpUrlKey(true)
    .default('https://api.telegram.org')
    .meta({ description: 'address of the Bot API, for a server of your own' }),
  token_env: variableKey()
    .min(1)
    .meta({ description: 'environment variable that holds the token of the bot' }),
  chat: z
    .preprocess(
      (chat) => (typeof chat === 'number' ? String(chat) : chat),
      z
        .string()
        .regex(/^(?:-?\d{1,20}|@\w{5,32})$/, 'expected the id of a chat, which svc notify pair prints'),
    )
    .meta({ description: 'id of the chat' }),
  events: pushEvents,
});

const push = z.discriminatedUnion('kind', [ntfy, telegram]);

/** An entry of `notify.push`. */
export type PushEntry = z.output<typeof push>;

/** The `notify` section. */
export const notifySchema = z.strictObject({
  webhooks: z
    .array(webhook)
    .default([])
    .meta({
      consent: true,
      notation: '[]NotifyWebhook',
      description: 'Targets of outbound events: url, events (default: all), secret_env.',
      unset: 'no events are sent',
      example: [
        {
          url: 'http://127.0.0.1:9000/hook',
          events: ['needs_approval', 'sealed', 'failed'],
          secret_env: 'SVC_NOTIFY_SECRET',
        },
      ],
    }),
  push: z
    .array(push)
    .default([])
    .meta({
      consent: true,
      notation: '[]NotifyPush',
      description:
        'Phones that get short messages: kind ntfy (url, topic_env, token_env) or telegram (token_env, chat), and events (default: needs_approval, ask_opened, sealed, failed).',
      unset: 'no messages are sent',
      example: [
        { kind: 'ntfy', topic_env: 'SVC_NTFY_TOPIC' },
        { kind: 'telegram', token_env: 'SVC_TELEGRAM_TOKEN', chat: '123456789' },
      ],
    }),
  desktop: z.boolean().default(true).meta({
    notation: '*bool',
    description:
      'Show what waits for a person and what ended: through the terminal of an open dashboard, otherwise on the desktop of the person who started the engine, by notify-send or osascript.',
    unset: 'true',
  }),
  quiet: z
    .string()
    .superRefine(refineWith((text) => text === '' || parseQuietHours(text)))
    .default('')
    .meta({
      notation: 'string',
      description:
        'Hours without messages to phones and notices on the desktop, such as 22:00-07:00, in the time zone of the machine or a named one: 22:00-07:00 Europe/Berlin. One summary follows at their end.',
      unset: 'no quiet hours',
    }),
});

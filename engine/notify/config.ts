import * as z from 'zod';
import { httpUrlKey, variableKey } from '../core/base/values/variable.ts';
import { EVENT_NAMES, type OutboundEvent } from './events.ts';

/** The name of an outbound event. */
export const outboundEvent = z.enum(EVENT_NAMES as [OutboundEvent, ...OutboundEvent[]]);

const webhook = z.strictObject({
  url: httpUrlKey(true).meta({ description: 'address that events are posted to' }),
  events: z.array(outboundEvent).optional().meta({ description: 'events to send; default: all' }),
  secret_env: variableKey()
    .optional()
    .meta({ description: 'environment variable that holds the secret of the signature' }),
});

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
});

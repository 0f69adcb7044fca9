import type { TargetKind } from '../database/tables.ts';

// Code that people paste into their tool so that it only accepts their own server's events. It is self-contained,
// checks every signature of `webhook-signature`, so that it works while the secret changes, and refuses events older
// than 5 minutes.

const CHECK = `const crypto = require('crypto');
const age = Math.abs(Date.now() / 1000 - Number(timestamp));
const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
const expected = crypto.createHmac('sha256', key).update(\`\${id}.\${timestamp}.\`).update(body).digest();
const isOurs = String(signatures).split(' ').some((each) => {
  const given = Buffer.from(each.replace(/^v1,/, ''), 'base64');
  return given.length === expected.length && crypto.timingSafeEqual(given, expected);
});
if (!isOurs || !(age < 300)) throw new Error('this event did not come from svc');`;

/** Code to paste into a tool, with instructions. */
export interface VerificationCode {
  steps: readonly string[];
  code: string;
}

export const VERIFICATION_CODES: Record<TargetKind, VerificationCode> = {
  n8n: {
    steps: [
      'In the Webhook node choose POST, add the option Raw Body, and copy its production address.',
      'After it add a Code node for JavaScript with this text. On your own n8n set NODE_FUNCTION_ALLOW_BUILTIN=crypto.',
    ],
    code: `const secret = 'whsec_…'; // the secret of this target
const { headers } = $input.first().json;
const body = await this.helpers.getBinaryDataBuffer(0, 'data');
const id = headers['webhook-id'];
const timestamp = headers['webhook-timestamp'];
const signatures = headers['webhook-signature'];
${CHECK}
return [{ json: JSON.parse(body.toString('utf8')) }];`,
  },
  zapier: {
    steps: [
      'Start the Zap with Webhooks by Zapier, Catch Raw Hook, and copy its address.',
      'Add Code by Zapier, Run JavaScript, with the input data body (Raw Body), id, timestamp and signatures (the headers Webhook-Id, Webhook-Timestamp and Webhook-Signature), and this text.',
    ],
    code: `const secret = 'whsec_…'; // the secret of this target
const { body, id, timestamp, signatures } = inputData;
${CHECK}
return JSON.parse(body);`,
  },
  make: {
    steps: [
      'Start the scenario with Webhooks, Custom webhook; switch on Get request headers and JSON pass-through, and copy its address.',
      'Add Make Code, Run Code, with the inputs body, id, timestamp and signatures (the headers webhook-id, webhook-timestamp and webhook-signature), and this text.',
    ],
    code: `const secret = 'whsec_…'; // the secret of this target
const { body, id, timestamp, signatures } = input;
${CHECK}
return JSON.parse(body);`,
  },
  webhook: {
    steps: [
      'Any library of Standard Webhooks verifies these requests. Without one, in Node, with the raw body as it arrived:',
    ],
    code: `function readEvent(headers, body, secret) {
  const id = headers['webhook-id'];
  const timestamp = headers['webhook-timestamp'];
  const signatures = headers['webhook-signature'];
  ${CHECK.replaceAll('\n', '\n  ')}
  return JSON.parse(body);
}`,
  },
};

import type { AddonName } from '../../core/link-protocol/capabilities.ts';
import type { VerificationCode } from './verification-code.ts';

// Code that people paste into their tool so that it decides: the signed request of docs/automate/receiver.md, to the
// decision_url of an event.

const SIGN = `const body = JSON.stringify({ decision_id, nonce: crypto.randomUUID() });
const timestamp = String(Math.floor(Date.now() / 1000));
const signature = crypto.createHmac('sha256', secret).update(\`\${timestamp}.\${body}\`).digest('hex');`;

/** Code for each tool that has a catch URL, with instructions. */
export const DECISION_CODES: Record<AddonName, VerificationCode> = {
  n8n: {
    steps: [
      'Add a Code node for JavaScript with this text. Its items are events that were verified, with a field verb: approve or deny.',
      'After it add an HTTP Request node: POST to {{ $json.url }}, the headers X-Svc-Timestamp {{ $json.timestamp }} and X-Svc-Signature {{ $json.signature }}, and the raw body {{ $json.body }}.',
    ],
    code: `const crypto = require('crypto');
const secret = 'whsec_…'; // the secret of this target
return $input.all().map(({ json: { decision_id, decision_url, verb } }) => {
  ${SIGN.replaceAll('\n', '\n  ')}
  return { json: { url: \`\${decision_url}/\${verb}\`, body, timestamp, signature } };
});`,
  },
  zapier: {
    steps: [
      'Add Code by Zapier, Run JavaScript, with the input data decision_id and decision_url (of an event that was verified) and verb (approve or deny), and this text.',
    ],
    code: `const crypto = require('crypto');
const secret = 'whsec_…'; // the secret of this target
const { decision_id, decision_url, verb } = inputData;
${SIGN}
const answer = await fetch(\`\${decision_url}/\${verb}\`, {
  method: 'POST',
  headers: { 'X-Svc-Timestamp': timestamp, 'X-Svc-Signature': signature },
  body,
});
return { status: answer.status, ...(await answer.json()) };`,
  },
  make: {
    steps: [
      'Add Make Code, Run Code, with the inputs decision_id and decision_url (of an event that was verified) and verb (approve or deny), and this text.',
      'After it add HTTP, Make a request: POST to url, the headers X-Svc-Timestamp (timestamp) and X-Svc-Signature (signature), and the raw body.',
    ],
    code: `const crypto = require('crypto');
const secret = 'whsec_…'; // the secret of this target
const { decision_id, decision_url, verb } = input;
${SIGN}
return { url: \`\${decision_url}/\${verb}\`, body, timestamp, signature };`,
  },
};

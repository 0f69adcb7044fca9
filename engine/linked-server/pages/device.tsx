/** @jsxImportSource hono/jsx */
import type { DeviceRequest } from '../database/tables.ts';
import type { SignedIn } from '../people/people.ts';
import { Field, Notice, Page, Time } from './layout.tsx';

/** The page for typing in the code of a terminal. */
export function DeviceCodePage({
  signedIn,
  code = '',
  error,
  said,
}: {
  signedIn: SignedIn;
  code?: string;
  error?: string | null;
  said?: string | null;
}) {
  return (
    <Page title="Log a machine in" path="/device" signedIn={signedIn}>
      <Notice error={error ?? null} said={said ?? null} />
      <form method="post" action="/device">
        <Field
          name="user_code"
          label="Code"
          value={code}
          hint="The code that svc login shows in the terminal, such as BCDF-GHJK"
        />
        <button type="submit">Continue</button>
      </form>
    </Page>
  );
}

/** The requesting terminal's own description. */
export function DeviceAnswerPage({
  signedIn,
  request,
  code,
  isOtherNetwork,
}: {
  signedIn: SignedIn;
  request: DeviceRequest;
  code: string;
  isOtherNetwork: boolean;
}) {
  return (
    <Page title="Is this your terminal?" path="/device" signedIn={signedIn}>
      <p>Your terminal shows exactly this code, or it is not yours:</p>
      <p class="code">{code}</p>
      {isOtherNetwork ? (
        <p class="error" role="alert">
          {`The request came from a different network than your browser: ${request.address}. Someone else may have sent you this code.`}
        </p>
      ) : null}
      <p>Reported by the machine, not verified:</p>
      <dl class="facts">
        <dt>Machine</dt>
        <dd>{request.machine_name}</dd>
        <dt>Program</dt>
        <dd>{`svc ${request.svc_version}, ${request.system}`}</dd>
        <dt>Address</dt>
        <dd>{request.address}</dd>
        <dt>Asked at</dt>
        <dd>
          <Time at={request.created_at} />
        </dd>
      </dl>
      <p>
        {`It will belong to the account ${signedIn.account.name}, can link its workspaces to this server and send their events. It cannot decide anything here.`}
      </p>
      <form method="post" action="/device/answer">
        <input type="hidden" name="user_code" value={code} />
        <div class="row">
          <button type="submit" name="answer" value="allow">
            Allow
          </button>
          <button type="submit" name="answer" value="refuse" class="bad">
            Refuse
          </button>
        </div>
      </form>
    </Page>
  );
}

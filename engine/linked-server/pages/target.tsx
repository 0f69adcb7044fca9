/** @jsxImportSource hono/jsx */
import type { AccountEntitlements, AddonName } from '../../core/link-protocol/capabilities.ts';
import { EVENT_NAMES, EVENTS } from '../../notify/sending/index.ts';
import type { TargetKind, TargetRow } from '../database/tables.ts';
import { readWorkspaces } from '../deliveries/chosen-workspaces.ts';
import { DECISION_CODES } from '../deliveries/decision-code.ts';
import { buildSample } from '../deliveries/samples.ts';
import { isOverlapping } from '../deliveries/target-secrets.ts';
import type { TargetWish } from '../deliveries/target-wish.ts';
import { readEvents } from '../deliveries/targets.ts';
import { VERIFICATION_CODES, type VerificationCode } from '../deliveries/verification-code.ts';
import type { SignedIn } from '../people/people.ts';
import { Action, Choices, Field, Notice, Page, Time } from './layout.tsx';
import { describeAddition, describeTarget, KIND_NAMES } from './settings.tsx';
import { describeChosen, type OfferedWorkspaces, WorkspaceFields } from './target-workspaces.tsx';

const SAMPLE_AT = Date.UTC(2026, 10, 23, 11, 5);

function TargetForm({
  action,
  label,
  kind,
  wish,
  offered,
  urlHint,
}: {
  action: string;
  label: string;
  kind: TargetKind;
  wish: TargetWish;
  offered: OfferedWorkspaces['offered'];
  /** The hint about an address that need not be typed again. */
  urlHint?: string;
}) {
  const hint =
    urlHint ??
    (kind === 'n8n'
      ? 'The production address: one with /webhook-test/ works for two minutes only'
      : undefined);
  return (
    <form method="post" action={action}>
      <input type="hidden" name="kind" value={kind} />
      <Field name="name" label="Name" value={wish.name} />
      <Field
        name="url"
        label="Address"
        type="url"
        value={wish.url}
        isOptional={urlHint !== undefined}
        {...(hint === undefined ? {} : { hint })}
      />
      <Choices
        name="events"
        label="Events"
        choices={EVENT_NAMES.map((event) => [event, EVENTS[event]])}
        chosen={wish.events}
      />
      <WorkspaceFields wish={wish.workspaces} offered={offered} />
      <button type="submit">{label}</button>
    </form>
  );
}

/** The page for adding a target. */
export function NewTargetPage({
  signedIn,
  kind,
  wish,
  offered,
  error,
}: {
  signedIn: SignedIn;
  kind: TargetKind;
  wish: TargetWish;
  offered: OfferedWorkspaces['offered'];
  error?: string | null;
}) {
  return (
    <Page title={describeAddition(kind)} path="/app/settings" signedIn={signedIn}>
      <Notice error={error ?? null} />
      <TargetForm action="/app/settings/targets" label="Add" kind={kind} wish={wish} offered={offered} />
      <p>
        <a href="/app/settings">Back</a>
      </p>
    </Page>
  );
}

/** Shows one target: its state, actions, and instructions for its tool. */
export function TargetPage({
  signedIn,
  target,
  wish,
  entitlements,
  workspaces,
  isShortLived,
  said,
  error,
  secret,
  now,
}: {
  signedIn: SignedIn;
  target: TargetRow;
  now: number;
  /** Refused input; the saved values otherwise. */
  wish?: TargetWish;
  entitlements: AccountEntitlements;
  workspaces: OfferedWorkspaces;
  isShortLived: boolean;
  said?: string | null;
  error?: string | null;
  /** Shown only once. */
  secret?: string | null;
}) {
  const { id, name, kind, is_on, paused_at, shown_url } = target;
  const isAdmin = signedIn.person.role === 'admin';
  const isInOverlap = isOverlapping(target, now);
  const place = `/app/settings/targets/${id}`;
  return (
    <Page title={name} path="/app/settings" signedIn={signedIn}>
      <Notice said={said ?? null} error={error ?? null} />
      {secret ? (
        <div class="facts" role="status">
          <p>The secret that signs every event. It is not shown again.</p>
          <p>
            <code>{secret}</code>
          </p>
        </div>
      ) : null}
      {isShortLived ? (
        <p class="error" role="alert">
          This is a test address: n8n listens on it for two minutes after a click on Listen. Use the
          production address of the Webhook node.
        </p>
      ) : null}
      <TargetFacts
        target={target}
        entitlements={entitlements}
        workspaces={workspaces}
        isAdmin={isAdmin}
        now={now}
      />
      <p>
        <a href={`/app/deliveries?target=${id}`}>Deliveries</a>
      </p>
      {isAdmin ? (
        <>
          <div class="row">
            <Action action={`${place}/test`} label="Send a test" />
            {paused_at === null ? null : <Action action={`${place}/resume`} label="Resume" />}
            <Action
              action={`${place}/${is_on === 1 ? 'off' : 'on'}`}
              label={is_on === 1 ? 'Switch off' : 'Switch on'}
            />
            {isInOverlap ? null : <Action action={`${place}/secret`} label="New secret" />}
          </div>
          {isInOverlap ? (
            <p>
              <a href={`${place}/secret`}>New secret</a>
            </p>
          ) : null}
          <p>
            <a href={`${place}/remove`}>Remove it</a>
          </p>
          <h2>Change it</h2>
          <TargetForm
            action={place}
            label="Save"
            kind={kind}
            wish={wish ?? readWish(target)}
            offered={workspaces.offered}
            urlHint={`Empty keeps ${shown_url}`}
          />
        </>
      ) : null}
      <h2>Accept only events of this server</h2>
      <Code {...VERIFICATION_CODES[kind]} />
      {kind === 'webhook' ? null : <DecidingThere kind={kind} />}
      <h2>Examples of events</h2>
      {EVENT_NAMES.map((event) => (
        <details>
          <summary>{event}</summary>
          <pre>{JSON.stringify(buildSample(event, { at: SAMPLE_AT }), null, 2)}</pre>
        </details>
      ))}
    </Page>
  );
}

/** The state of a target, and where it is. */
function TargetFacts({
  target,
  entitlements,
  workspaces,
  isAdmin,
  now,
}: {
  target: TargetRow;
  entitlements: AccountEntitlements;
  workspaces: OfferedWorkspaces;
  isAdmin: boolean;
  now: number;
}) {
  const { id, kind, paused_at, old_until, shown_url, created_at } = target;
  const { word, why } = describeTarget(target, entitlements);
  return (
    <dl class="facts">
      <dt>State</dt>
      <dd>{`${word}: ${why}`}</dd>
      <dt>Kind</dt>
      <dd>{KIND_NAMES[kind]}</dd>
      <dt>Address</dt>
      <dd>{shown_url}</dd>
      <dt>Workspaces</dt>
      <dd>
        {describeChosen(target, workspaces.named)}{' '}
        {isAdmin && workspaces.offered === null ? (
          <a href={`/app/settings/targets/${id}/workspaces`}>Choose them</a>
        ) : null}
      </dd>
      <dt>Added</dt>
      <dd>
        <Time at={created_at} />
      </dd>
      {paused_at === null ? null : (
        <>
          <dt>Paused since</dt>
          <dd>
            <Time at={paused_at} />
          </dd>
        </>
      )}
      {isOverlapping(target, now) ? (
        <>
          <dt>The previous secret signs until</dt>
          <dd>
            <Time at={old_until} />
          </dd>
        </>
      ) : null}
    </dl>
  );
}

function Code({ steps, code }: VerificationCode) {
  return (
    <>
      <ol>
        {steps.map((step) => (
          <li>{step}</li>
        ))}
      </ol>
      <pre>{code}</pre>
    </>
  );
}

/** Explains how a tool with a catch URL decides. */
function DecidingThere({ kind }: { kind: AddonName }) {
  return (
    <>
      <h2>{`Decide from ${KIND_NAMES[kind]}`}</h2>
      <p>
        Each workspace decides whether it accepts these decisions. At the machine:{' '}
        <code>{`svc config set server.decide '{${kind}: [automation]}'`}</code>
      </p>
      <Code {...DECISION_CODES[kind]} />
    </>
  );
}

/** The initial values of a target's form. */
function readWish(target: TargetRow): TargetWish {
  const chosen = readWorkspaces(target);
  return {
    name: target.name,
    url: '',
    events: readEvents(target),
    workspaces: { scope: chosen === null ? 'all' : 'ticked', ticked: chosen ?? [] },
  };
}

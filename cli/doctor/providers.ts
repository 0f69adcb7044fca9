import type { GatewayState, WireValue } from '../../engine/index.ts';
import type { CommandContext } from '../command.ts';
import {
  type GatewayTrial,
  TRIED_PROTOCOLS,
  type TriedProtocol,
  tryProtocol,
  withTrialKey,
} from '../gateway-trials.ts';
import { type DoctorCheck, readErrorMessage, reportFailure, reportPass, reportWarning } from './check.ts';

type ProviderState = WireValue<GatewayState>['providers'][number];

/**
 * Asks each provider once for a few words, through the gateway like any other call: it is booked, and charged to the
 * budget. Starts the engine and the gateway.
 */
export async function tryProviders({ engine }: Pick<CommandContext, 'engine'>): Promise<DoctorCheck[]> {
  try {
    const client = await engine();
    const { url } = await client.call('gateway.serve', {});
    const state = await client.call('gateway.status', {});
    if (state === null)
      return [reportFailure('providers', 'the gateway does not answer', 'see .svc/log/gateway.out')];
    if (state.mode !== 'live')
      return [
        reportWarning(
          'providers',
          `ai.mode is ${state.mode}: no provider is asked anything`,
          'svc config set ai.mode live',
        ),
      ];
    if (state.providers.length === 0)
      return [
        reportFailure(
          'providers',
          'ai.mode is live, and there is no provider',
          'name one under ai.providers, ai.ollama or ai.passthrough; svc config keys ai shows how',
        ),
      ];
    return await withTrialKey(client, 'doctor', (key) =>
      Promise.all(state.providers.map((provider) => tryProvider(url, key, provider))),
    );
  } catch (error) {
    return [reportFailure('providers', readErrorMessage(error), 'svc gateway serve shows why')];
  }
}

async function tryProvider(url: string, key: string, provider: ProviderState): Promise<DoctorCheck> {
  const { name, protocols, own_model: own, trial_model: model } = provider;
  const check = `provider ${name}`;
  if (model === null)
    return reportWarning(
      check,
      'not tested: no model is set for it, and no model in its list has a known price',
      `svc gateway test --model svc/${name}/MODEL tests one of your choice`,
    );
  const spoken = TRIED_PROTOCOLS.find((each) => protocols.includes(each)) ?? 'chat';
  const tried = await tryProtocol(url, key, spoken, `svc/${name}/${model}`);
  return describeTrial(check, spoken, tried, { model, passedOver: own === '' });
}

function describeTrial(
  check: string,
  spoken: TriedProtocol,
  { status, ms, problem }: GatewayTrial,
  { model, passedOver }: { model: string; passedOver: boolean },
): DoctorCheck {
  const asked = `${model} by ${spoken}`;
  // Not an error: requests for a named model are served.
  const note = passedOver ? '; svc/auto and similar names skip it, since no model is set for it' : '';
  if (problem === null) return reportPass(check, `${asked} answered in ${ms} ms${note}`);
  const found = `${asked} failed after ${ms} ms: ${problem}`;
  return reportFailure(
    check,
    status === 0 ? found : `${found} (status ${status})`,
    status === 401 || status === 403
      ? 'correct its key: api_key_env names a variable of the engine or a line of keys.env; then svc down and svc up'
      : status === 402
        ? 'svc gateway usage shows what was spent; ai.budget_tokens_day, or the account at the provider'
        : 'correct its base_url and model in ai.providers; svc gateway status shows its last error',
  );
}

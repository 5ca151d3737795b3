"""The networks of the learner: a policy that is shown what its seat sees, and a value network that may see everything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor, MlpExtractor
from torch import nn

from katz_agents.layers import Layers
from katz_env import Game
from katz_env.core.encoding import Encoding
from katz_env.core.fields import Field
from katz_train.masked_softmax import masked_softmax


class Encoded(BaseFeaturesExtractor):
    """Makes inputs from the numbers of an observation, as `Encoding` does."""

    def __init__(self, observation_space: Any, game: Game, fields: Sequence[Field]) -> None:
        self.encoding = Encoding(game, fields)
        super().__init__(observation_space, self.encoding.size)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """The inputs ``(k, I)``; SB3 may have made floats of the numbers."""
        return torch.from_numpy(self.encoding(observations.to(torch.int8).numpy()))


class AsymmetricExtractor(nn.Module):
    """The hidden layers of a policy network for the first `seen` features and of a value network for all of them.

    A value network that is given more than the policy while it is trained is called an asymmetric critic (Pinto et al. 2018,
    "Asymmetric actor critic for image-based robot learning").
    """

    def __init__(self, features: int, seen: int, hidden: list[int]) -> None:
        super().__init__()
        self.seen = seen
        self.policy_net = MlpExtractor(seen, {"pi": hidden, "vf": []}, nn.Tanh, "cpu").policy_net
        self.value_net = MlpExtractor(features, {"pi": [], "vf": hidden}, nn.Tanh, "cpu").value_net
        self.latent_dim_pi = self.latent_dim_vf = hidden[-1]

    def forward(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The outputs of the last hidden layers of both networks."""
        return self.forward_actor(features), self.forward_critic(features)

    def forward_actor(self, features: torch.Tensor) -> torch.Tensor:
        """The output of the last hidden layer of the policy network, which is shown only what its seat sees."""
        return self.policy_net(features[:, : self.seen])

    def forward_critic(self, features: torch.Tensor) -> torch.Tensor:
        """The output of the last hidden layer of the value network."""
        return self.value_net(features)


def with_base(logits: torch.Tensor, observations: torch.Tensor, base_logit: float) -> torch.Tensor:
    """The logits ``(k, A)`` with that of the base added, whose moves are the last A numbers of the observations, one-hot."""
    if not base_logit:
        return logits
    return logits + base_logit * observations[:, -logits.shape[1] :]


class EncodedMlp(nn.Module):
    """A policy network or a value network: from observations to logits ``(k, A)`` or values ``(k, 1)``.

    Parameters
    ----------
    encoding
        Makes the inputs of the network.
    network
        The layers, which may be shared with a policy of SB3.
    base_logit
        Of a policy network that corrects a base: what is added to the logit of the move that the base would make; 0: there is
        no base. See `TrainingEnv`.
    """

    def __init__(self, encoding: Encoding, network: nn.Module, base_logit: float = 0.0) -> None:
        super().__init__()
        self.encoding, self.network, self.base_logit = encoding, network, base_logit

    def forward(self, observations: NDArray[np.int8]) -> torch.Tensor:
        """The outputs for int8 ``(k, at least D)``; the network is shown only the D numbers that its encoding takes."""
        outputs: torch.Tensor = self.network(torch.from_numpy(self.encoding(observations)))
        return with_base(outputs, torch.from_numpy(observations), self.base_logit)

    def layers(self) -> Layers:
        """Weights and biases, as views of the parameters."""
        return [(m.weight.detach().numpy().T, m.bias.detach().numpy()) for m in self._linear]

    def take_over(self, layers: Layers) -> None:
        """Take over weights and biases of the same shapes."""
        with torch.no_grad():
            for module, (weight, bias) in zip(self._linear, layers, strict=True):
                module.weight.copy_(torch.from_numpy(weight.T))
                module.bias.copy_(torch.from_numpy(bias))

    @property
    def _linear(self) -> list[nn.Linear]:
        return [module for module in self.network.modules() if isinstance(module, nn.Linear)]


class Networks(NamedTuple):
    """The policy network and the value network."""

    actor: EncodedMlp
    critic: EncodedMlp


class ActorCritic(MaskableActorCriticPolicy):
    """The policy sees the first numbers of what it is given, an observation of the game; the value network sees all.

    With a base (`base_logit` above 0; see `EncodedMlp`), what they are given ends with the moves of the base, which only add to
    the logits.
    """

    def __init__(self, *args: Any, game: Game, hidden: list[int], base_logit: float, **kwargs: Any) -> None:
        self.seen, self.hidden, self.base_logit = Encoding(game), hidden, base_logit
        super().__init__(*args, **kwargs)

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = AsymmetricExtractor(self.features_dim, self.seen.size, self.hidden)  # type: ignore[assignment]

    @property
    def networks(self) -> Networks:
        """The policy network and the value network; they share this policy's parameters."""
        encoding = cast(Encoding, self.features_extractor.encoding)
        actor = EncodedMlp(self.seen, nn.Sequential(self.mlp_extractor.policy_net, self.action_net), self.base_logit)
        critic = EncodedMlp(encoding, nn.Sequential(self.mlp_extractor.value_net, self.value_net))
        return Networks(actor, critic)

    def evaluate_actions(
        self, obs: Any, actions: torch.Tensor, action_masks: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
        """Values, log-probabilities and entropies of a batch."""
        if action_masks is None:
            return super().evaluate_actions(obs, actions, action_masks)
        features = self.features_extractor(obs)
        latent_pi, latent_vf = self.mlp_extractor(features)
        logits = with_base(self.action_net(latent_pi), obs, self.base_logit)
        log_probs, entropies = masked_softmax(logits, action_masks, actions)
        return self.value_net(latent_vf), log_probs, entropies

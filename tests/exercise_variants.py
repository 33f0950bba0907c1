"""Other right ways to write each answer: with loops, with einsum, with other NumPy functions. All must pass."""

import math

import numpy as np


def softmax_rows_loop(scores):
    rows = []
    for row in scores:
        top = max(row)
        raised = [math.exp(x - top) for x in row]
        rows.append([e / sum(raised) for e in raised])
    return rows


def softmax_rows_transposed(scores):
    e = np.exp(scores.T - np.amax(scores, axis=1))
    return (e / np.sum(e, axis=0)).T


def temperature_loop(scores, T):
    return [softmax_rows_loop([[x / T for x in row]])[0] for row in scores]


def temperature_einsum(scores, T):
    e = np.exp((scores - scores.max()) / T)
    return np.einsum("ij,i->ij", e, 1 / np.einsum("ij->i", e))


def jacobian_loop(w):
    return [[w[i] * ((i == j) - w[j]) for j in range(len(w))] for i in range(len(w))]


def jacobian_einsum(w):
    return np.eye(len(w)) * w - np.einsum("i,j->ij", w, w)


def lookup_loop(ids, table):
    return [list(table[i]) for i in ids]


def lookup_product(ids, table):
    return np.einsum("ij,jk->ik", np.eye(len(table))[ids], table)


def one_hot_loop(ids, size):
    return [[int(column == i) for column in range(size)] for i in ids]


def one_hot_eye(ids, size):
    return np.eye(size)[ids]


def positions_loop(n, d_model):
    rows = []
    for p in range(n):
        row = []
        for i in range(d_model // 2):
            angle = p / 10000 ** (2 * i / d_model)
            row += [math.sin(angle), math.cos(angle)]
        rows.append(row)
    return rows


def positions_outer(n, d_model):
    angles = np.outer(np.arange(n), np.exp(-np.log(10000) * np.arange(0, d_model, 2) / d_model))
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d_model)


def soft_lookup_loop(query, keys, values):
    scores = [sum(a * b for a, b in zip(query, key, strict=True)) for key in keys]
    weights = softmax_rows_loop([scores])[0]
    return [sum(w * v for w, v in zip(weights, column, strict=True)) for column in values.T]


def soft_lookup_einsum(query, keys, values):
    raised = np.exp(np.einsum("nd,d->n", keys, query))
    return np.einsum("n,nm->m", raised, values) / raised.sum()


def score_all(X, W_Q, W_K, i, j):
    return ((X @ W_Q) @ (X @ W_K).T)[i, j]


def score_einsum(X, W_Q, W_K, i, j):
    return np.einsum("a,ak,bk,b->", X[i], W_Q, W_K, X[j])


def cosine_loop(a, b):
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    return dot / math.sqrt(sum(x * x for x in a)) / math.sqrt(sum(y * y for y in b))


def cosine_norm(a, b):
    return np.dot(a / np.linalg.norm(a), b / np.linalg.norm(b))


def all_scores_loop(Q, K):
    return [[sum(a * b for a, b in zip(q, k, strict=True)) for k in K] for q in Q]


def all_scores_einsum(Q, K):
    return np.einsum("id,jd->ij", Q, K)


def scaled_loop(Q, K):
    return [[x / math.sqrt(len(Q[0])) for x in row] for row in all_scores_loop(Q, K)]


def scaled_before(Q, K):
    return np.einsum("id,jd->ij", Q * Q.shape[1] ** -0.5, K)


def scale_power(d_model, num_heads):
    return (d_model // num_heads) ** -0.5


def scale_ratio(d_model, num_heads):
    return math.sqrt(num_heads) / math.sqrt(d_model)


def weighted_sum_loop(weights, V):
    return [[sum(w * v for w, v in zip(row, column, strict=True)) for column in V.T] for row in weights]


def weighted_sum_einsum(weights, V):
    return np.einsum("ij,jd->id", weights, V)


def attention_loop(Q, K, V):
    return weighted_sum_loop(softmax_rows_loop(scaled_loop(Q, K)), V)


def attention_einsum(Q, K, V):
    raised = np.exp(np.einsum("id,jd->ij", Q, K) / np.sqrt(K.shape[1]))
    return np.einsum("ij,jv->iv", raised, V) / raised.sum(axis=1)[:, None]


def count_loop(ours, printed, digits):
    errors = 0
    for a, b in zip(ours.ravel(), printed.ravel(), strict=True):
        if abs(a - b) > 0.5 / 10**digits + 1e-6:
            errors += 1
    return errors


def count_nonzero(ours, printed, digits):
    return np.count_nonzero(np.abs(printed - ours) * 10**digits > 0.5 + 1e-6 * 10**digits)


def split_loop(X, num_heads):
    d = X.shape[1] // num_heads
    return [[list(row[h * d : (h + 1) * d]) for row in X] for h in range(num_heads)]


def split_stack(X, num_heads):
    return np.stack(np.split(X, num_heads, axis=1))


def merge_loop(H):
    return [[x for head in H for x in head[i]] for i in range(H.shape[1])]


def merge_concatenate(H):
    return np.concatenate(list(H), axis=1)


def multi_head_loop(X, W_Q, W_K, W_V, W_O, num_heads):
    heads = [
        attention_loop(X @ q, X @ k, X @ v)
        for q, k, v in zip(*(np.split(W, num_heads, axis=1) for W in (W_Q, W_K, W_V)), strict=True)
    ]
    return np.concatenate(heads, axis=1) @ W_O


def multi_head_einsum(X, W_Q, W_K, W_V, W_O, num_heads):
    Q, K, V = ((X @ W).reshape(len(X), num_heads, -1) for W in (W_Q, W_K, W_V))
    raised = np.exp(np.einsum("ihd,jhd->hij", Q, K) / np.sqrt(Q.shape[-1]))
    weights = raised / raised.sum(axis=-1, keepdims=True)
    return np.einsum("hij,jhd->ihd", weights, V).reshape(len(X), -1) @ W_O


def causal_loop(n):
    return [[int(j <= i) for j in range(n)] for i in range(n)]


def causal_compare(n):
    return np.arange(n)[:, None] >= np.arange(n)


def visible_loop(lengths, n):
    return [[1] * length + [0] * (n - length) for length in lengths]


def visible_take(lengths, n):
    return np.tri(n + 1, n, k=-1)[lengths]


def masked_loop(scaled, mask):
    rows = []
    for scores, allowed in zip(scaled, mask, strict=True):
        raised = [math.exp(x) if seen else 0.0 for x, seen in zip(scores, allowed, strict=True)]
        rows.append([e / (sum(raised) or 1.0) for e in raised])
    return rows


def masked_einsum(scaled, mask):
    raised = np.exp(scaled) * mask
    return np.einsum("ij,i->ij", raised, 1 / np.maximum(raised.sum(axis=1), 1e-300))


def values_backward_loop(weights, d_output):
    n, m = weights.shape
    return [
        [sum(weights[i, j] * d_output[i, k] for i in range(n)) for k in range(d_output.shape[1])] for j in range(m)
    ]


def values_backward_einsum(weights, d_output):
    return np.einsum("ij,id->jd", weights, d_output)


def softmax_back_loop(weights, d_weights):
    return [
        [w * (d - sum(a * b for a, b in zip(row, grads, strict=True))) for w, d in zip(row, grads, strict=True)]
        for row, grads in zip(weights, d_weights, strict=True)
    ]


def softmax_back_jacobian(weights, d_weights):
    jacobian = np.einsum("ni,ij->nij", weights, np.eye(weights.shape[1])) - np.einsum(
        "ni,nj->nij", weights, weights
    )
    return np.einsum("nij,ni->nj", jacobian, d_weights)


def adamw_short(p, g, rate, decay):
    return p * (1 - rate * decay) - rate * g / (np.abs(g) + 1e-8)


def adamw_loop(p, g, rate, decay):
    flat = [a - rate * (b / (abs(b) + 1e-8) + decay * a) for a, b in zip(p.ravel(), g.ravel(), strict=True)]
    return np.array(flat).reshape(p.shape)


def strongest_loop(weights, query, key):
    heads = [(layer, head) for layer in range(weights.shape[0]) for head in range(weights.shape[1])]
    return max(heads, key=lambda place: weights[place][query, key])


def strongest_divmod(weights, query, key):
    return divmod(int(np.argmax(weights[..., query, key])), weights.shape[1])


def join_compare(m_1, s_1, m_2, s_2):
    return s_1 + s_2 * math.exp(m_2 - m_1) if m_1 > m_2 else s_2 + s_1 * math.exp(m_1 - m_2)


def join_dot(m_1, s_1, m_2, s_2):
    maxima = np.array([m_1, m_2])
    return np.einsum("i,i->", [s_1, s_2], np.exp(maxima - maxima.max()))


def turn_matrix(x, angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ x


def turn_complex(x, angle):
    turned = complex(x[0], x[1]) * np.exp(1j * angle)
    return [turned.real, turned.imag]


def window_loop(n, width):
    return [[int(0 <= i - j < width) for j in range(n)] for i in range(n)]


def window_tri(n, width):
    return np.tri(n) - np.tri(n, k=-width)


def norm_loop(X):
    rows = []
    for row in X:
        mean = sum(row) / len(row)
        spread = math.sqrt(sum((x - mean) ** 2 for x in row) / len(row) + 1e-5)
        rows.append([(x - mean) / spread for x in row])
    return rows


def norm_moments(X):
    mean = np.einsum("ij->i", X)[:, None] / X.shape[1]
    return (X - mean) / (X.var(axis=1, keepdims=True) + 1e-5) ** 0.5


VARIANTS = {
    "10-norm": [norm_loop, norm_moments],
    "11-join": [join_compare, join_dot],
    "11-turn": [turn_matrix, turn_complex],
    "11-window": [window_loop, window_tri],
    "12-strongest": [strongest_loop, strongest_divmod],
    "09-values": [values_backward_loop, values_backward_einsum],
    "09-softmax": [softmax_back_loop, softmax_back_jacobian],
    "09-adamw": [adamw_loop, adamw_short],
    "08-causal": [causal_loop, causal_compare],
    "08-padding": [visible_loop, visible_take],
    "08-masked": [masked_loop, masked_einsum],
    "01-lookup": [lookup_loop, lookup_product],
    "01-one-hot": [one_hot_loop, one_hot_eye],
    "01-positions": [positions_loop, positions_outer],
    "02-soft-lookup": [soft_lookup_loop, soft_lookup_einsum],
    "02-score": [score_all, score_einsum],
    "03-cosine": [cosine_loop, cosine_norm],
    "03-all-pairs": [all_scores_loop, all_scores_einsum],
    "04-scaled": [scaled_loop, scaled_before],
    "04-scale": [scale_power, scale_ratio],
    "05-softmax-rows": [softmax_rows_loop, softmax_rows_transposed],
    "05-temperature": [temperature_loop, temperature_einsum],
    "05-jacobian": [jacobian_loop, jacobian_einsum],
    "06-weighted-sum": [weighted_sum_loop, weighted_sum_einsum],
    "06-attention": [attention_loop, attention_einsum],
    "06-count": [count_loop, count_nonzero],
    "07-split": [split_loop, split_stack],
    "07-merge": [merge_loop, merge_concatenate],
    "07-multi-head": [multi_head_loop, multi_head_einsum],
}

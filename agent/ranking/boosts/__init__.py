"""Small additions to the score of hits that are wished for."""

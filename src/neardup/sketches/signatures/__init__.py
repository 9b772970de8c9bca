"""What the kinds minhash and weighted share: signatures whose positions agree or not."""
